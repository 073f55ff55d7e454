package mail

import "time"

// Lease is for how long mails are hidden from other senders.
const Lease = lease

// WithPatience changes how long the server may take.
func (s SMTP) WithPatience(d time.Duration) SMTP {
	s.patience = d
	return s
}

// Strings returns the words in a language by their names.
func Strings(code string) (map[string]string, error) {
	w, err := readWords(code)
	named := map[string]string{"address": w.Address, "leave": w.Leave}
	for _, kind := range kinds {
		p := w.of(kind)
		for name, s := range map[string]string{"title": p.Title, "text": p.Text, "button": p.Button, "more": p.More} {
			named[string(kind)+" "+name] = s
		}
	}
	return named, err
}
