-- Measurements. Times are milliseconds since 1970.
CREATE TABLE points (
    metric TEXT NOT NULL,
    at INTEGER NOT NULL,
    value REAL NOT NULL,
    PRIMARY KEY (metric, at)
) WITHOUT ROWID;
CREATE INDEX points_by_time ON points (at);

-- A metric that is above its threshold, from when it was first seen there until it was seen below.
CREATE TABLE alerts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    metric TEXT NOT NULL,
    threshold REAL NOT NULL,
    peak REAL NOT NULL,
    opened INTEGER NOT NULL,
    closed INTEGER,
    acknowledged INTEGER,
    note TEXT
);
CREATE UNIQUE INDEX one_open_alert_of_a_metric ON alerts (metric) WHERE closed IS NULL;

-- A target that could be reached and cannot any more, or the other way round.
CREATE TABLE internet_events (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    target TEXT NOT NULL,
    at INTEGER NOT NULL,
    up INTEGER NOT NULL,
    detail TEXT NOT NULL
);
CREATE INDEX internet_events_by_target ON internet_events (target, id);

-- What people say a program is, where they know better than the rules.
CREATE TABLE categories (
    program TEXT PRIMARY KEY,
    category TEXT NOT NULL
) WITHOUT ROWID;
