-- The record of the waitlists. Moments are in milliseconds since 1970, 0 is never. The types are names that SQLite and PostgreSQL share.

CREATE TABLE waitlists (
	name       TEXT   PRIMARY KEY,
	paused     BIGINT NOT NULL DEFAULT 0,
	version    BIGINT NOT NULL DEFAULT 0, -- grows by one with each transaction that changes the list
	held       BIGINT NOT NULL DEFAULT 0, -- live invites and acceptances
	accepted   BIGINT NOT NULL DEFAULT 0, -- spots that were ever accepted
	expired    BIGINT NOT NULL DEFAULT 0, -- spots that have ever expired
	last_entry BIGINT NOT NULL DEFAULT 0,
	last_spot  BIGINT NOT NULL DEFAULT 0,
	last_mail  BIGINT NOT NULL DEFAULT 0,
	last_plan  BIGINT NOT NULL DEFAULT 0
);

CREATE TABLE entries (
	waitlist      TEXT   NOT NULL REFERENCES waitlists (name),
	number        BIGINT NOT NULL,           -- the position: immutable, never told
	version       BIGINT NOT NULL,           -- of the transaction that changed the entry last
	status        TEXT   NOT NULL,
	priority      BIGINT NOT NULL DEFAULT 0,
	boost         BIGINT NOT NULL DEFAULT 0, -- the part of the priority that referrals have earned
	email         TEXT,                      -- as it was typed; null when there is none, and after erasure
	email_key     TEXT,                      -- normalised
	mailbox       TEXT,                      -- email_key without tags and dots
	user_id       TEXT,
	network       TEXT   NOT NULL DEFAULT '',
	language      TEXT   NOT NULL DEFAULT '',
	referral_code TEXT,
	referrer      BIGINT,                    -- the number of the entry whose code was used
	spot          BIGINT,                    -- the last one that the entry was given
	joined_at     BIGINT NOT NULL,
	confirmed_at  BIGINT NOT NULL DEFAULT 0,
	mailed_at     BIGINT NOT NULL DEFAULT 0, -- when a mail was last asked for by signing up
	bounced_at    BIGINT NOT NULL DEFAULT 0, -- when a mail was refused for good, if none was taken since
	PRIMARY KEY (waitlist, number)
);
-- The mailbox is a function of the key, so one index keeps the key unique and finds entries that share a mailbox.
CREATE UNIQUE INDEX entries_by_email ON entries (waitlist, mailbox, email_key);
CREATE UNIQUE INDEX entries_by_user ON entries (waitlist, user_id) WHERE user_id IS NOT NULL;
CREATE UNIQUE INDEX entries_by_code ON entries (waitlist, referral_code);
CREATE INDEX entries_in_order ON entries (waitlist, priority DESC, number);
CREATE INDEX entries_in_order_by_status ON entries (waitlist, status, priority DESC, number);
CREATE INDEX entries_by_version ON entries (waitlist, version);
CREATE INDEX entries_unconfirmed ON entries (waitlist, mailed_at) WHERE status = 'unconfirmed';

-- The ledger: a row for each spot that was ever released.
CREATE TABLE spots (
	waitlist    TEXT   NOT NULL,
	id          BIGINT NOT NULL,
	number      BIGINT NOT NULL,           -- of the entry that was invited
	state       TEXT   NOT NULL,           -- live, accepted, expired, or freed by somebody who left
	token       BYTEA  NOT NULL UNIQUE,    -- the hash of the invite's token
	released_at BIGINT NOT NULL,
	expires_at  BIGINT NOT NULL,
	mailed_at   BIGINT NOT NULL DEFAULT 0,
	accepted_at BIGINT NOT NULL DEFAULT 0,
	ended_at    BIGINT NOT NULL DEFAULT 0,
	owed        BIGINT NOT NULL DEFAULT 0, -- 1 from the end until the next spot has taken this one's place
	replaces    BIGINT,                    -- the ended spot whose place this one took
	PRIMARY KEY (waitlist, id),
	UNIQUE (waitlist, replaces),
	FOREIGN KEY (waitlist, number) REFERENCES entries (waitlist, number)
);
CREATE INDEX spots_by_entry ON spots (waitlist, number);
CREATE INDEX spots_live ON spots (waitlist, expires_at) WHERE state = 'live';
CREATE INDEX spots_owed ON spots (waitlist, id) WHERE owed = 1;

CREATE TABLE tokens (
	hash       BYTEA  PRIMARY KEY,
	waitlist   TEXT   NOT NULL,
	number     BIGINT NOT NULL,
	kind       TEXT   NOT NULL,           -- confirm or secret
	expires_at BIGINT NOT NULL DEFAULT 0,
	FOREIGN KEY (waitlist, number) REFERENCES entries (waitlist, number)
);
CREATE INDEX tokens_by_entry ON tokens (waitlist, number);
CREATE INDEX tokens_ending ON tokens (waitlist, expires_at) WHERE expires_at > 0;

-- One row at most for each referee.
CREATE TABLE credits (
	waitlist TEXT   NOT NULL,
	referee  BIGINT NOT NULL,
	referrer BIGINT NOT NULL,
	state    TEXT   NOT NULL,             -- granted, held, denied or withdrawn
	reason   TEXT   NOT NULL DEFAULT '',  -- why it was held
	network  TEXT   NOT NULL DEFAULT '',
	at       BIGINT NOT NULL,
	PRIMARY KEY (waitlist, referee),
	FOREIGN KEY (waitlist, referee) REFERENCES entries (waitlist, number),
	FOREIGN KEY (waitlist, referrer) REFERENCES entries (waitlist, number)
);
CREATE INDEX credits_by_referrer ON credits (waitlist, referrer, state);
CREATE INDEX credits_by_state ON credits (waitlist, state, referee);

-- Mails that are still to be sent. The token is in clear here, and nowhere else.
CREATE TABLE outbox (
	waitlist   TEXT   NOT NULL,
	id         BIGINT NOT NULL,
	kind       TEXT   NOT NULL,
	number     BIGINT NOT NULL,
	spot       BIGINT NOT NULL DEFAULT 0,
	token      TEXT   NOT NULL,
	created_at BIGINT NOT NULL,
	expires_at BIGINT NOT NULL,           -- a mail is not worth sending afterwards
	due_at     BIGINT NOT NULL,
	attempts   BIGINT NOT NULL DEFAULT 0,
	last_error TEXT   NOT NULL DEFAULT '',
	PRIMARY KEY (waitlist, id),
	FOREIGN KEY (waitlist, number) REFERENCES entries (waitlist, number)
);
CREATE INDEX outbox_due ON outbox (waitlist, due_at);
CREATE INDEX outbox_by_entry ON outbox (waitlist, number);
CREATE INDEX outbox_ending ON outbox (waitlist, expires_at);

CREATE TABLE plans (
	waitlist TEXT   NOT NULL REFERENCES waitlists (name),
	id       BIGINT NOT NULL,
	size     BIGINT NOT NULL,
	at       BIGINT NOT NULL,             -- the next release
	period   BIGINT NOT NULL DEFAULT 0,   -- between two releases; 0 is one release
	rest     BIGINT NOT NULL DEFAULT 0,   -- what is still to come of a release that has begun
	PRIMARY KEY (waitlist, id)
);

CREATE TABLE audit (
	waitlist TEXT   NOT NULL REFERENCES waitlists (name),
	id       BIGINT NOT NULL,
	at       BIGINT NOT NULL,
	operator TEXT   NOT NULL,
	action   TEXT   NOT NULL,
	number   BIGINT NOT NULL DEFAULT 0,   -- of the entry that it was done to
	detail   TEXT   NOT NULL DEFAULT '',  -- without personal data
	PRIMARY KEY (waitlist, id)
);
