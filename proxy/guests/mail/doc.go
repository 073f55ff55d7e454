// Package mail writes the mails of a waitlist and hands them to a mail server. It knows nothing of
// the gate, and of the waitlist it knows the outbox.
//
// There are three kinds of mails, and each has one link besides that to leave the list: that which
// confirms an address, that which leads to the owner's place, and that of an invite. A [Composer]
// writes them, in the languages of package templates, by Mustache templates. Those that are built
// in are the two files of layout, with the words of lang. An operator can replace the text and the
// HTML of each kind, for all languages or for one. What a template can say is in [Variables].
//
// A [Sender] sends what is due in an outbox (see [waitlist.List.Lease]):
//
//	the mail server takes the mail              Sent
//	it says that the address takes no mail      Drop
//	it refuses the mail otherwise               Failed: again later
//	the connection breaks                       once more on a new one, else Failed
//	the mail server cannot be reached           nothing is leased, or what was is given back; the next attempt after a pause
//	the entry was erased meanwhile              nothing
//
// A mail that was handed over just before its sender died is sent again, under the same Message-ID.
package mail
