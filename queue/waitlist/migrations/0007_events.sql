-- What happens to entries, for the site to hear; and what people have done to move up, as the site reports it.

ALTER TABLE waitlists ADD COLUMN last_event BIGINT NOT NULL DEFAULT 0;
ALTER TABLE entries ADD COLUMN earned BIGINT NOT NULL DEFAULT 0; -- the part of the priority that actions have earned

CREATE TABLE events (
	waitlist TEXT   NOT NULL REFERENCES waitlists (name),
	id       BIGINT NOT NULL,             -- counted without gaps, in the order of the changes
	at       BIGINT NOT NULL,
	kind     TEXT   NOT NULL,
	number   BIGINT NOT NULL,             -- of the entry, which may be gone meanwhile
	PRIMARY KEY (waitlist, id)
);
CREATE INDEX events_by_time ON events (waitlist, at);

CREATE TABLE actions (
	waitlist TEXT   NOT NULL,
	id       TEXT   NOT NULL,             -- that the reporter gave it, so that it counts once
	number   BIGINT NOT NULL,             -- of the entry
	action   TEXT   NOT NULL,
	points   BIGINT NOT NULL,
	at       BIGINT NOT NULL,
	taken_at BIGINT NOT NULL DEFAULT 0,   -- when it was taken back; it stays, so that a late repeat of the report does not count
	PRIMARY KEY (waitlist, id),
	FOREIGN KEY (waitlist, number) REFERENCES entries (waitlist, number)
);
CREATE INDEX actions_by_entry ON actions (waitlist, number, action);

-- How far each webhook has been told of the events.
CREATE TABLE receivers (
	waitlist TEXT   NOT NULL REFERENCES waitlists (name),
	name     TEXT   NOT NULL,
	told     BIGINT NOT NULL,             -- the last event that it has taken, or that is not for it
	due_at   BIGINT NOT NULL DEFAULT 0,   -- until then nobody tells it more, but for the node that has the turn
	tries    BIGINT NOT NULL DEFAULT 0,   -- of the next event
	PRIMARY KEY (waitlist, name)
);
