-- What becomes of mails.

ALTER TABLE waitlists ADD COLUMN undelivered BIGINT NOT NULL DEFAULT 0; -- invites that have expired before their mail was delivered
