package mail_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	own "github.com/fairdoor-gate/fairdoor/proxy/guests/mail"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

// childOf is the variable that has a run of the test binary send what is due, as its value says.
const childOf = "MAIL_CHILD_OF"

// task is what a child does.
type task struct {
	File string // of the waitlist
	SMTP own.SMTP
}

func TestMain(m *testing.M) {
	if text := os.Getenv(childOf); text != "" {
		fmt.Fprintln(os.Stderr, sendAs(text))
		os.Exit(1) // it should have been killed
	}
	os.Exit(m.Run())
}

// sendAs sends what is due at the start.
func sendAs(text string) error {
	var work task
	if err := json.Unmarshal([]byte(text), &work); err != nil {
		return err
	}
	store, err := waitlist.Open(ctx, work.File)
	if err != nil {
		return err
	}
	list, err := store.List(ctx, "beta", waitlist.DefaultSettings())
	if err != nil {
		return err
	}
	w := &world{now: start}
	sender, err := own.NewSender(work.SMTP, must(own.NewComposer(options())), zap.NewNop(), w.clock)
	if err != nil {
		return err
	}
	_, _, err = sender.SendDue(ctx, list)
	return err
}

// Invariant W9: a mail is sent at least once, under one id. The sender is killed when the server
// has the second of three mails and has not said so.
func TestAMailWhoseSenderIsKilledIsSentAgainUnderTheSameID(t *testing.T) {
	taken, killed := make(chan struct{}), make(chan struct{})
	s := newServer(t, own.NoTLS)
	s.data = func(count int, _ *smtp.Conn) error {
		if count == 2 {
			close(taken)
			<-killed
		}
		return nil
	}
	file := filepath.Join(t.TempDir(), "waitlists.db")
	w := open(t, file)
	w.join("ada@example.com", "bob@example.com", "cem@example.com")

	settings := s.smtp(own.NoTLS)
	settings.RootCAs = nil
	text, err := json.Marshal(task{file, settings})
	require.NoError(t, err)
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childOf+"="+string(text))
	child.Stderr = os.Stderr
	require.NoError(t, child.Start())
	<-taken
	require.NoError(t, child.Process.Kill())
	_ = child.Wait()
	close(killed)

	sender := w.sender(settings)
	w.send(sender, 0, 0)
	w.after(own.Lease)
	w.send(sender, 2, 0)
	ids := map[string][]string{}
	for _, l := range s.letters() {
		ids[l.to] = append(ids[l.to], l.header.Get("Message-Id"))
	}
	assert.Len(t, ids, 3, "each mail has been sent")
	require.Len(t, ids["bob@example.com"], 2)
	assert.Equal(t, ids["bob@example.com"][0], ids["bob@example.com"][1])
	assert.NotEqual(t, ids["ada@example.com"], ids["cem@example.com"])
}
