//! A row of a result, read by column name.

use serde::de::DeserializeOwned;
use sqlx::Row as _;
use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;

use crate::error::StoreError;

/// One row, of whichever database.
pub(crate) enum Row {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

impl From<SqliteRow> for Row {
    fn from(row: SqliteRow) -> Self {
        Self::Sqlite(row)
    }
}

impl From<PgRow> for Row {
    fn from(row: PgRow) -> Self {
        Self::Postgres(row)
    }
}

macro_rules! column {
    ($($(#[$doc:meta])* $name:ident -> $type:ty;)*) => {$(
        $(#[$doc])*
        pub(crate) fn $name(&self, column: &str) -> Result<$type, StoreError> {
            match self {
                Self::Sqlite(row) => Ok(row.try_get(column)?),
                Self::Postgres(row) => Ok(row.try_get(column)?),
            }
        }
    )*};
}

impl Row {
    column! {
        /// Text.
        text -> String;
        /// Text or null.
        maybe_text -> Option<String>;
        /// A whole number.
        int -> i64;
        /// A whole number or null.
        maybe_int -> Option<i64>;
        /// A number.
        real -> f64;
        /// A number or null.
        maybe_real -> Option<f64>;
        /// Bytes.
        bytes -> Vec<u8>;
        /// Bytes or null.
        maybe_bytes -> Option<Vec<u8>>;
    }

    /// A count; negative values, which no statement makes, read as 0.
    pub(crate) fn count(&self, column: &str) -> Result<u64, StoreError> {
        Ok(u64::try_from(self.int(column)?).unwrap_or(0))
    }

    /// A small number such as a version or a trial.
    pub(crate) fn number(&self, column: &str) -> Result<u32, StoreError> {
        Ok(u32::try_from(self.int(column)?).unwrap_or(0))
    }

    /// Yes or no, stored as 1 or 0.
    pub(crate) fn flag(&self, column: &str) -> Result<bool, StoreError> {
        Ok(self.int(column)? != 0)
    }

    /// A value stored as JSON text.
    pub(crate) fn json<T: DeserializeOwned>(&self, column: &str) -> Result<T, StoreError> {
        from_json(&self.text(column)?, column)
    }

    /// A value stored as JSON text, or null.
    pub(crate) fn maybe_json<T: DeserializeOwned>(
        &self,
        column: &str,
    ) -> Result<Option<T>, StoreError> {
        self.maybe_text(column)?
            .map(|text| from_json(&text, column))
            .transpose()
    }
}

fn from_json<T: DeserializeOwned>(text: &str, column: &str) -> Result<T, StoreError> {
    serde_json::from_str(text)
        .map_err(|error| StoreError::Unreadable(format!("column {column}: {error}")))
}

/// The JSON text of a value for a column.
pub(crate) fn to_json<T: serde::Serialize>(value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value)
        .map_err(|error| StoreError::Unreadable(format!("a value has no JSON form: {error}")))
}
