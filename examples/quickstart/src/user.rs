//! Who is asking.

/// The person on whose behalf the model calls. Comes with each call; the model neither sees nor sends it.
#[derive(Clone, Debug)]
pub struct CurrentUser {
    pub name: String,
    pub may_delete: bool,
}
