//! An axum router over a dispatcher, for any web app to mount.
