//! The user of a call.

/// The user on whose behalf the model calls. The application passes it with each call; the model cannot see or set it.
#[derive(Clone, Debug)]
pub struct CurrentUser {
    pub name: String,
    pub may_delete: bool,
}
