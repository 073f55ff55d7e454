package guestpage

import "time"

// Sample is a page by name, for previews and checks.
type Sample struct {
	Name string
	View View
}

// Samples lists every page, and its variants.
func Samples() []Sample {
	samples := []Sample{
		{"sign-up", View{State: SignUp}},
		{"sign-up, by a friend's link, full", View{State: SignUp, Referral: "k7m2p9", Full: true, Message: "The doors open on Friday."}},
		{"sign-up, no address", View{State: SignUp, Problem: NoAddress, Email: "ada@nordlys"}},
		{"sign-up, too many", View{State: SignUp, Problem: TooMany, Email: "ada@nordlys.example", Direct: true}},
		{"sign-up, a user of the site", View{State: SignUp, Named: true, Problem: TooMany}},
		{"sign-up, with a challenge", View{
			State: SignUp, Problem: Unproven, SiteKey: "the-site", WidgetClass: "widget", ScriptURL: "https://challenge.example/widget.js",
		}},
		{"sent", View{State: Sent, Email: "ada@nordlys.example"}},
		{"waiting", View{
			State: Waiting, Rank: 12034, Total: 25731, ReferralLink: "https://nordlys.example/.fairdoor/waitlist/beta?ref=k7m2p9",
			ReferralsMade: 3, Boosts: true, Full: true, Moves: []Move{{"Shared the news", 10}, {"Filled in the survey", 5}},
		}},
		{"waiting, a user of the site", View{State: Waiting, Rank: 1, Total: 25731, Named: true}},
		{"confirm", View{State: Confirm, Token: "t0k3n"}},
		{"invited", View{State: Invited, Token: "t0k3n", ExpiresAt: time.Date(2026, time.November, 24, 18, 42, 0, 0, time.UTC)}},
		{"invited, by cookie", View{State: Invited, ExpiresAt: time.Date(2026, time.November, 24, 18, 42, 0, 0, time.UTC)}},
		{"accepted", View{State: Accepted, Enter: "https://nordlys.example/"}},
		{"expired", View{State: Expired, Email: "ada@nordlys.example"}},
		{"gone", View{State: Gone}},
		{"gone, accepted", View{State: Gone, Taken: true}},
		{"left", View{State: Left}},
		{"leave", View{State: Leave, Token: "t0k3n"}},
		{"return", View{State: Return, Token: "t0k3n"}},
		{"unavailable", View{State: Unavailable}},
	}
	for i := range samples {
		samples[i].View.Path = "/.fairdoor/waitlist/beta"
	}
	return samples
}
