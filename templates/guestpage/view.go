package guestpage

import "time"

// State says which page it is. It is also the key of the page's heading.
type State string

// The states.
const (
	SignUp      State = "signUp"      // the form
	Sent        State = "sent"        // an address was given: a mail is on its way to it, whatever the list knows of it
	Waiting     State = "waiting"     // the rank, one's own link, what has come of it
	Confirm     State = "confirm"     // a button that confirms the address
	Invited     State = "invited"     // a button that accepts the invite: by the token, or without one by the cookie
	Accepted    State = "accepted"    // a link into the room
	Expired     State = "expired"     // one's own invite has ended, and one may sign up again
	Gone        State = "gone"        // the link has been used, or has expired
	Left        State = "left"        // one is off the list, and the data is erased
	Leave       State = "leave"       // a button that takes one off the list, by the token of a mail
	Return      State = "toList"      // a button that brings one to one's place, by the secret of a mail
	Unavailable State = "unavailable" // the waitlist does not answer
)

var states = [...]State{SignUp, Sent, Waiting, Confirm, Invited, Accepted, Expired, Gone, Left, Leave, Return, Unavailable}

// Problem says what was wrong with a form; "" is nothing.
type Problem string

// The problems.
const (
	NoAddress Problem = "noAddress" // it was not an e-mail address
	TooMany   Problem = "tooMany"   // too many have signed up from this network
	Unproven  Problem = "unproven"  // the challenge was not passed
)

// View is what a page tells. A page shows what its state needs, and nothing of the rest. The texts
// may be a stranger's: they are escaped.
type View struct {
	State State // "" is SignUp
	// Path is that of the list. The form posts to it; to leave, with the field leave=yes. The
	// buttons post to Path/confirm, Path/invite and Path/leave; that of Return to Path, with the
	// field secret.
	Path string
	// Way is the query that the page adds to these paths, "" for none: "?to=…" has where its viewer
	// wants to go in the room. With script the page adds the fragment of its own address.
	Way string

	Problem  Problem // of the form
	Email    string  // as it was typed
	Referral string  // the code of the link by which they came: the field referral of the form
	Named    bool    // the site names its user: the form asks for no address, and the page promises no mail
	Direct   bool    // an address counts without a mail that confirms it
	// The challenge that the form has, if the SiteKey is not "": the class of its element, and its
	// script.
	SiteKey, WidgetClass, ScriptURL string

	Token string // of the link: the field token of the buttons

	Rank, Total  int    // 0 if the entry does not wait
	ReferralLink string // "" for none
	// ReferralsMade is how many referees count.
	ReferralsMade int
	Moves         []Move // what they have done that has moved them up, beside that
	Boosts        bool   // bringing others moves one up: else the page has nothing of referrals
	// Once says that the browser has no cookie of the entry, as after a sign-up with a known
	// address that is not confirmed. The page does not refresh itself then, and has no form to
	// leave.
	Once bool

	Taken     bool      // the link that is gone was of an invite, which was accepted
	ExpiresAt time.Time // when the invite ends
	Enter     string    // the address of the room, for those who have accepted
	Full      bool      // no spot is free now: said on SignUp, Expired and Waiting
	Message   string    // the operator's
}

// Move is something that has moved somebody up.
type Move struct {
	Title  string
	Points int
}

// resolved returns v with nothing that its state does not show. So a page has nothing of an entry
// that is not its viewer's: above all Sent, which is the same for every address of one length.
func (v View) resolved() View {
	shown := View{State: v.State, Path: v.Path, Way: v.Way, Named: v.Named, Once: v.Once, Message: v.Message}
	switch v.State {
	case Sent:
		shown.Email = v.Email
	case Waiting:
		shown.Rank, shown.Total, shown.Full = max(v.Rank, 0), max(v.Total, v.Rank), v.Full
		if v.Boosts {
			shown.ReferralLink, shown.ReferralsMade = v.ReferralLink, max(v.ReferralsMade, 0)
		}
		shown.Moves = v.Moves
	case Confirm, Leave, Return:
		shown.Token = v.Token
	case Invited:
		shown.Token, shown.ExpiresAt = v.Token, v.ExpiresAt
	case Accepted:
		shown.Enter = v.Enter
	case Gone:
		shown.Taken = v.Taken
	case Left, Unavailable:
	default:
		if shown.State != Expired {
			shown.State = SignUp
		}
		shown.Problem, shown.Email, shown.Referral, shown.Direct, shown.Full = v.Problem, v.Email, v.Referral, v.Direct, v.Full
		shown.SiteKey, shown.WidgetClass, shown.ScriptURL = v.SiteKey, v.WidgetClass, v.ScriptURL
	}
	return shown
}

// HasForm reports whether the page has the form to sign up.
func (v View) HasForm() bool { return v.State == SignUp || v.State == Expired }

// closed reports whether the page shows the door closed: something is over.
func (v View) closed() bool {
	return v.State == Expired || v.State == Gone || v.State == Left || v.State == Unavailable
}

// back reports whether the page has a link to the list's own page.
func (v View) back() bool { return v.State == Sent || v.closed() && !v.HasForm() }

// mayLeave reports whether the page has a form to leave: its viewer has to have shown that the
// entry is theirs. A token of an invite shows less than that.
func (v View) mayLeave() bool {
	switch v.State {
	case Waiting, Accepted, Expired:
		return !v.Once
	case Invited:
		return !v.Once && v.Token == ""
	default:
		return false
	}
}
