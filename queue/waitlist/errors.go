package waitlist

import "errors"

// What an operation is refused for. Any other error is a fault of the database or of the caller's
// context: nothing has been acknowledged then.
var (
	ErrNotFound = errors.New("there is no such entry")
	ErrEmail    = errors.New("this is not an e-mail address")
	ErrNobody   = errors.New("neither an e-mail address nor a user is given")
	ErrUsed     = errors.New("the link has been used")
	ErrExpired  = errors.New("the link has expired")
	ErrPaused   = errors.New("the waitlist is paused")
	ErrFull     = errors.New("no spot is free")
	ErrStatus   = errors.New("the entry cannot take that status")
	ErrRange    = errors.New("the number is out of range")
	ErrColumns  = errors.New("the first line does not name a column email or user_id")
	ErrAction   = errors.New("there is no such action")
	ErrGone     = errors.New("the events are not kept any more")
	ErrText     = errors.New("the text is not UTF-8")
	ErrAway     = errors.New("the database is not there")
	ErrClosed   = errors.New("the waitlist is closed")
)
