package world

// hoarder is one of many identities of somebody who gathers slots before the crowd comes: they take
// one, keep its ticket, and show it when the slot is somebody else's, and others wait.
func (v *visitor) hoarder() {
	s := &v.world.plan.Settings
	if v.ask(request{accept: asJSON}).in() && s.SessionDuration > s.ConfirmWithin {
		v.wait(s.ConfirmWithin + slack + v.upTo(s.SessionDuration-s.ConfirmWithin))
	}
	v.app()
}
