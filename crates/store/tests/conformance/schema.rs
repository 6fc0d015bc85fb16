//! The two folders of migrations make the same tables.

use std::collections::BTreeSet;

use evalkit_store::{Settings, Store};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, PgConnection, Row as _, SqliteConnection};

/// One line a fact, in words that do not depend on the database.
type Facts = BTreeSet<String>;

async fn of_sqlite(connection: &mut SqliteConnection) -> Facts {
    let mut facts = Facts::new();
    let rows = sqlx::query(
        "SELECT t.name AS tab, c.name AS col, lower(c.type) AS kind, c.\"notnull\" AS filled, c.dflt_value AS otherwise \
         FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table' AND t.name NOT LIKE '\\_sqlx%' ESCAPE '\\' \
         AND t.name NOT LIKE 'sqlite%'",
    )
    .fetch_all(&mut *connection)
    .await
    .expect("columns");
    for row in rows {
        facts.insert(column(
            row.get("tab"),
            row.get("col"),
            match row.get::<String, _>("kind").as_str() {
                "integer" => "whole number",
                "real" => "number",
                "blob" => "bytes",
                "text" => "text",
                other => panic!("{other}"),
            },
            row.get::<i64, _>("filled") == 1,
            row.get("otherwise"),
        ));
    }
    let rows = sqlx::query(
        "SELECT t.name AS tab, i.\"unique\" AS one, i.partial AS part, (SELECT group_concat(name, ', ') FROM \
         (SELECT name FROM pragma_index_info(i.name) ORDER BY seqno)) AS cols FROM sqlite_schema t JOIN pragma_index_list(t.name) i \
         WHERE t.type = 'table' AND t.name NOT LIKE '\\_sqlx%' ESCAPE '\\' AND t.name NOT LIKE 'sqlite%'",
    )
    .fetch_all(&mut *connection)
    .await
    .expect("indexes");
    for row in rows {
        facts.insert(index(
            row.get("tab"),
            row.get("cols"),
            row.get::<i64, _>("one") == 1,
            row.get::<i64, _>("part") == 1,
        ));
    }
    // The key of a row id has no index of its own.
    let rows = sqlx::query(
        "SELECT t.name AS tab, c.name AS col FROM sqlite_schema t JOIN pragma_table_info(t.name) c \
         WHERE t.type = 'table' AND t.sql LIKE '%AUTOINCREMENT%' AND c.pk = 1",
    )
    .fetch_all(&mut *connection)
    .await
    .expect("keys");
    for row in rows {
        facts.insert(index(row.get("tab"), row.get("col"), true, false));
    }
    let rows = sqlx::query(
        "SELECT t.name AS tab, f.\"from\" AS col, f.\"table\" AS other, f.\"to\" AS there FROM sqlite_schema t \
         JOIN pragma_foreign_key_list(t.name) f WHERE t.type = 'table'",
    )
    .fetch_all(&mut *connection)
    .await
    .expect("foreign keys");
    for row in rows {
        facts.insert(reference(
            row.get("tab"),
            row.get("col"),
            row.get("other"),
            row.get("there"),
        ));
    }
    facts
}

async fn of_postgres(connection: &mut PgConnection) -> Facts {
    let mut facts = Facts::new();
    let rows = sqlx::query(
        "SELECT CAST(c.relname AS TEXT) AS tab, CAST(a.attname AS TEXT) AS col, format_type(a.atttypid, NULL) AS kind, \
         a.attnotnull AS filled, pg_get_expr(d.adbin, d.adrelid) AS otherwise, CAST(l.collname AS TEXT) AS sorts \
         FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid \
         LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum \
         LEFT JOIN pg_collation l ON l.oid = a.attcollation \
         WHERE c.relnamespace = CAST('public' AS regnamespace) AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped \
         AND c.relname <> '_sqlx_migrations'",
    )
    .fetch_all(&mut *connection)
    .await
    .expect("columns");
    for row in rows {
        let (table, name): (String, String) = (row.get("tab"), row.get("col"));
        let kind = match row.get::<String, _>("kind").as_str() {
            "bigint" => "whole number",
            "double precision" => "number",
            "bytea" => "bytes",
            "text" => {
                let sorts: Option<String> = row.get("sorts");
                assert_eq!(
                    sorts.as_deref(),
                    Some("C"),
                    "{table}.{name} is to be compared by its bytes"
                );
                "text"
            }
            other => panic!("{table}.{name} is {other}"),
        };
        let otherwise = row.get::<Option<String>, _>("otherwise").map(|text| {
            text.replace("::text", "")
                .replace("::bigint", "")
                .trim_matches(['(', ')'])
                .to_owned()
        });
        facts.insert(column(table, name, kind, row.get("filled"), otherwise));
    }
    let rows = sqlx::query(
        "SELECT CAST(c.relname AS TEXT) AS tab, i.indisunique AS one, i.indpred IS NOT NULL AS part, \
         (SELECT string_agg(CAST(a.attname AS TEXT), ', ' ORDER BY k.place) FROM unnest(i.indkey) WITH ORDINALITY AS k (col, place) \
          JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.col) AS cols \
         FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid \
         WHERE c.relnamespace = CAST('public' AS regnamespace) AND c.relname <> '_sqlx_migrations'",
    )
    .fetch_all(&mut *connection)
    .await
    .expect("indexes");
    for row in rows {
        facts.insert(index(
            row.get("tab"),
            row.get("cols"),
            row.get("one"),
            row.get("part"),
        ));
    }
    let rows = sqlx::query(
        "SELECT CAST(c.relname AS TEXT) AS tab, CAST(a.attname AS TEXT) AS col, CAST(o.relname AS TEXT) AS other, \
         CAST(b.attname AS TEXT) AS there FROM pg_constraint f JOIN pg_class c ON c.oid = f.conrelid \
         JOIN pg_class o ON o.oid = f.confrelid JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = f.conkey[1] \
         JOIN pg_attribute b ON b.attrelid = o.oid AND b.attnum = f.confkey[1] WHERE f.contype = 'f'",
    )
    .fetch_all(&mut *connection)
    .await
    .expect("foreign keys");
    for row in rows {
        facts.insert(reference(
            row.get("tab"),
            row.get("col"),
            row.get("other"),
            row.get("there"),
        ));
    }
    facts
}

fn column(
    table: String,
    name: String,
    kind: &str,
    filled: bool,
    otherwise: Option<String>,
) -> String {
    let filled = if filled { "filled" } else { "may be empty" };
    let otherwise = otherwise.map_or_else(String::new, |value| format!(", otherwise {value}"));
    format!("{table}.{name}: {kind}, {filled}{otherwise}")
}

fn index(table: String, columns: String, one: bool, part: bool) -> String {
    let one = if one { "unique" } else { "index" };
    format!(
        "{table}: {one} ({columns}){}",
        if part { " of some rows" } else { "" }
    )
}

fn reference(table: String, column: String, other: String, there: String) -> String {
    format!("{table}.{column} refers to {other}.{there}")
}

async fn the_migrations_of_both_databases_make_the_same_tables() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(folder.path(), Settings::default())
        .await
        .expect("SQLite");
    store.close().await;
    let mut file = SqliteConnectOptions::new()
        .filename(folder.path().join("evalkit.db"))
        .connect()
        .await
        .expect("the file");
    let sqlite = of_sqlite(&mut file).await;
    let postgres = of_postgres(&mut evalkit_test_database::connection().await).await;
    let only_sqlite: Vec<_> = sqlite.difference(&postgres).collect();
    let only_postgres: Vec<_> = postgres.difference(&sqlite).collect();
    assert!(
        only_sqlite.is_empty() && only_postgres.is_empty(),
        "only in migrations/sqlite: {only_sqlite:#?}\nonly in migrations/postgres: {only_postgres:#?}"
    );
    assert!(
        sqlite.len() > 250,
        "{} facts are too few to be all",
        sqlite.len()
    );
}

/// The same numbers and names in both folders: a migration without its twin is found before it is run.
#[test]
fn every_migration_has_its_twin() {
    let names = |folder: &str| -> BTreeSet<_> {
        let folder = format!("{}/../../migrations/{folder}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_dir(&folder)
            .unwrap_or_else(|error| panic!("{folder}: {error}"))
            .map(|entry| entry.expect("a file").file_name())
            .collect()
    };
    assert_eq!(names("sqlite"), names("postgres"));
}

evalkit_test_database::on_postgres![the_migrations_of_both_databases_make_the_same_tables];
