-- When sign-ups have caused mails to a mailbox. It outlives entries, and has no address.

ALTER TABLE waitlists ADD COLUMN mail_key BYTEA; -- drawn at random, of the hashes in mailboxes

CREATE TABLE mailboxes (
	waitlist  TEXT   NOT NULL REFERENCES waitlists (name),
	hash      BYTEA  NOT NULL,            -- of the mailbox, with the key
	first_at  BIGINT NOT NULL,            -- of the first mail
	mailed_at BIGINT NOT NULL,            -- of the last one
	PRIMARY KEY (waitlist, hash)
);
CREATE INDEX mailboxes_by_time ON mailboxes (waitlist, mailed_at);
