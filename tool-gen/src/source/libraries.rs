//! The names that `use library::*` brings.

/// The modules of libraries whose types are known, with the names of those types.
const MODULES: [(&str, &[&str]); 20] = [
    ("std::borrow", &["Cow"]),
    ("std::cell", &["Cell", "RefCell"]),
    ("std::cmp", &["Reverse"]),
    ("std::collections", &["BTreeMap", "BTreeSet", "BinaryHeap", "HashMap", "HashSet", "LinkedList", "VecDeque"]),
    ("std::ffi", &["CStr", "CString", "OsStr", "OsString"]),
    ("std::marker", &["PhantomData"]),
    ("std::net", &["IpAddr", "Ipv4Addr", "Ipv6Addr", "SocketAddr", "SocketAddrV4", "SocketAddrV6"]),
    ("std::num", &["Saturating", "Wrapping"]),
    ("std::ops", &["Bound", "Range", "RangeFrom", "RangeInclusive", "RangeTo"]),
    ("std::path", &["Path", "PathBuf"]),
    ("std::rc", &["Rc", "Weak"]),
    ("std::sync", &["Arc", "Mutex", "RwLock", "Weak"]),
    ("std::time", &["Duration", "SystemTime"]),
    (
        "chrono",
        &[
            "DateTime",
            "Duration",
            "FixedOffset",
            "Local",
            "Month",
            "NaiveDate",
            "NaiveDateTime",
            "NaiveTime",
            "TimeDelta",
            "Utc",
            "Weekday",
        ],
    ),
    ("chrono::naive", &["NaiveDate", "NaiveDateTime", "NaiveTime"]),
    ("chrono::offset", &["FixedOffset", "Local", "Utc"]),
    (
        "chrono::prelude",
        &["DateTime", "FixedOffset", "Local", "Month", "NaiveDate", "NaiveDateTime", "NaiveTime", "Utc", "Weekday"],
    ),
    ("serde_json", &["Map", "Number", "Value"]),
    ("url", &["Url"]),
    ("uuid", &["NonNilUuid", "Uuid"]),
];

/// Whether a module of a library has a type of this name, as far as types of libraries are known.
pub(super) fn is_in_library(module: &str, name: &str) -> bool {
    let is_listed = MODULES.iter().any(|(known, names)| *known == module && names.contains(&name));
    let has_prefix = [("std::num", "NonZero"), ("std::sync::atomic", "Atomic")]
        .iter()
        .any(|(known, prefix)| *known == module && name.starts_with(prefix));
    is_listed || has_prefix
}
