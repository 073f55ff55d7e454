-- Each mail that a sign-up has caused, for as long as it makes further ones rare. It outlives entries, and has no address.

DROP TABLE mailboxes;

CREATE TABLE mailings (
	waitlist TEXT   NOT NULL REFERENCES waitlists (name),
	mailbox  BYTEA  NOT NULL,             -- a hash with mail_key, as the next
	said     BYTEA  NOT NULL,             -- of what the mail said: the address as it is written, and by whom a link to confirm says it was brought
	at       BIGINT NOT NULL
);
CREATE INDEX mailings_by_mailbox ON mailings (waitlist, mailbox, at);
CREATE INDEX mailings_by_time ON mailings (waitlist, at);
