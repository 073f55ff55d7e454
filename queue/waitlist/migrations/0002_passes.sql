-- The passes of rooms, and who has used them.

CREATE TABLE passes (
	id         TEXT   PRIMARY KEY,        -- drawn at random; in links it is sealed
	room       TEXT   NOT NULL,
	name       TEXT   NOT NULL,           -- by which operators know it; several passes may share one
	kind       TEXT   NOT NULL,           -- in, ahead or join
	code       BYTEA  NOT NULL UNIQUE,    -- the hash of the code that people type
	uses       BIGINT NOT NULL,           -- how many people may use it
	used       BIGINT NOT NULL DEFAULT 0, -- how many have
	made_at    BIGINT NOT NULL,
	made_by    TEXT   NOT NULL,
	expires_at BIGINT NOT NULL,
	revoked_at BIGINT NOT NULL DEFAULT 0,
	revoked_by TEXT   NOT NULL DEFAULT ''
);
CREATE INDEX passes_by_room ON passes (room, made_at, id);
CREATE INDEX passes_revoked ON passes (room, expires_at) WHERE revoked_at <> 0;

CREATE TABLE pass_uses (
	pass    TEXT   NOT NULL REFERENCES passes (id),
	number  BIGINT NOT NULL,              -- from 1
	form    BYTEA  NOT NULL,              -- the hash of what the form had that was sent, so that a form counts once
	used_at BIGINT NOT NULL,
	PRIMARY KEY (pass, number),
	UNIQUE (pass, form)
);
