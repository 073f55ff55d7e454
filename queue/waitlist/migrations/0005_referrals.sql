-- What each confirmation says of who has brought somebody, and of which domain a referee is.

ALTER TABLE tokens ADD COLUMN referrer BIGINT;                   -- of the sign-up that a link confirms: the entry whose code was used
ALTER TABLE tokens ADD COLUMN network TEXT NOT NULL DEFAULT '';  -- and where it came from
ALTER TABLE credits ADD COLUMN domain TEXT NOT NULL DEFAULT '';  -- of the referee's address, unless it is a mail provider's
CREATE INDEX credits_by_domain ON credits (waitlist, referrer, domain);
