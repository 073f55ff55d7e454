package waitlist_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

func (w *world) exported() string {
	w.t.Helper()
	var out strings.Builder
	require.NoError(w.t, w.Export(ctx, &out, operator, w.now))
	return out.String()
}

func TestWhatIsExportedIsImportedWithoutLoss(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		w := newWorld(t, name, settings(capacity(3)))
		ada := w.enter(waitlist.SignUp{Email: "ada@example.com", Language: "de-DE"})
		for i := range 6 {
			w.after(1234 * time.Millisecond)
			w.enter(waitlist.SignUp{Email: fmt.Sprintf("friend%d@friends.example", i), Referral: ada.ReferralCode})
		}
		held := must(w.Held(ctx, 0, 10))
		require.NoError(t, w.Judge(ctx, held[0].Referee, false, operator, w.now))
		require.NoError(t, w.SetPriority(ctx, held[1].Referee, -7, operator, w.now))
		w.join(waitlist.SignUp{UserID: "=user"})
		w.join(waitlist.SignUp{Email: "unsure@example.com"})
		require.Equal(t, 3, w.release(3))
		_, err := w.Accept(ctx, w.token("ada@example.com", waitlist.MailInvite), w.now.Add(time.Second))
		require.NoError(t, err)
		require.NoError(t, w.SetStatus(ctx, 2, waitlist.Expired, operator, w.now))
		text := w.exported()
		for _, part := range []string{",denied", ",same_domain", ",granted", ",expired,", ",invited,", ",accepted,", ",unconfirmed,", "'=user"} {
			require.Contains(t, text, part)
		}

		copied := newWorld(t, sqliteFile(t), settings(capacity(3)))
		copied.now = w.now
		done := must(copied.Import(ctx, strings.NewReader(text), nil, operator, w.now))
		assert.Equal(t, waitlist.Imported{Added: 8, Unconfirmed: 1}, done)
		assert.Equal(t, text, copied.exported())
		copied.holds(t, 3)
		assert.Equal(t, 3, copied.entry(1).ReferralsMade)
		assert.Empty(t, must(copied.Outbox(ctx, 0, 10)), "nobody gets a mail")

		copied.join(waitlist.SignUp{Email: "unsure@example.com"})
		back := must(copied.Confirm(ctx, copied.token("unsure@example.com", waitlist.MailConfirm), nil, w.now))
		assert.EqualValues(t, 9, back.Number, "they keep their place")
	})
}

// exports are first lines and people as other programs write them, from the one who is to be the
// first.
var exports = map[string]string{
	"GetWaitlist": `uuid,email,priority,referral_token,referred_by_signup_token,created_at,verified,amount_referred
u2,bob@example.com,1,BOB1,ADA1,2025-03-16T10:30:00.000000,True,0
u3,cem@example.com,2,CEM1,,2025-03-14T10:30:00.000000,False,0
u1,ada@example.com,0,ADA1,,2025-03-15T10:30:00.000000,True,1
`,
	"Viral Loops": `firstname,lastname,email,referralCode,referrer.referralCode,createdAt,rank
Bob,B,bob@example.com,BOB1,ADA1,1742121000000,2
Ada,A,ada@example.com,ADA1,,1742034600000,1
`,
	"LaunchList": `Name,Email,Position,Referral Code,Referred By,Submitted At,Verified
Bob,bob@example.com,2,BOB1,ada@example.com,2025-03-16 10:30:00,yes
Ada,ada@example.com,1,ADA1,,2025-03-15 10:30:00,yes
`,
	"Mailchimp": `"Email Address","First Name","Last Name",MEMBER_RATING,OPTIN_TIME,OPTIN_IP,CONFIRM_TIME,LEID
ada@example.com,Ada,A,2,"2025-03-15 10:30:00",,"2025-03-15 10:31:00",1
bob@example.com,Bob,B,2,"2025-03-16 10:30:00",,"2025-03-16 10:31:00",2
`,
}

func TestTheFilesOfOtherProgramsAreImported(t *testing.T) {
	for program, text := range exports {
		t.Run(program, func(t *testing.T) {
			w := newWorld(t, sqliteFile(t), settings())
			done := must(w.Import(ctx, strings.NewReader(text), nil, operator, w.now))
			assert.Equal(t, []int{2, 0}, []int{done.Added, done.Faulty}, "%v", done.Faults)
			people := must(w.Entries(ctx, waitlist.Search{Status: waitlist.Waiting})).Entries
			require.Len(t, people, 2)
			ada, bob := people[0], people[1]
			assert.Equal(t, []string{"ada@example.com", "bob@example.com"}, []string{ada.Email, bob.Email})
			assert.Equal(t, time.Date(2025, 3, 15, 10, 30, 0, 0, time.UTC), ada.JoinedAt)
			if program != "Mailchimp" {
				assert.Equal(t, []any{"ADA1", "BOB1", 1}, []any{ada.ReferralCode, bob.ReferralCode, ada.ReferralsMade})
			}
		})
	}
}

func TestAnImportSaysWhichColumnsItDoesNotRead(t *testing.T) {
	text := "Mail,Signup Day,utm_source,Kind\nada@example.com,2025-03-15,x,y\n"
	w := newWorld(t, sqliteFile(t), settings())
	columns := must(waitlist.ReadColumns(strings.NewReader(text), map[string]string{"joined_at": "Signup Day"}))
	assert.Equal(t, map[string]string{"email": "Mail", "joined_at": "Signup Day"}, columns.Read)
	done := must(w.Import(ctx, strings.NewReader(text), map[string]string{"joined_at": "Signup Day"}, operator, w.now))
	assert.Equal(t, []string{"utm_source", "Kind"}, done.Ignored)
	assert.Equal(t, time.Date(2025, 3, 15, 0, 0, 0, 0, time.UTC), w.entry(1).JoinedAt)
	for name, column := range map[string]string{"joined_at": "no such column", "shoe_size": "Kind"} {
		_, err := w.Import(ctx, strings.NewReader(text), map[string]string{name: column}, operator, w.now)
		assert.ErrorIs(t, err, waitlist.ErrColumns)
	}
}
