package world

// phantom is a program that keeps no cookies: to the gate each of its requests is somebody else's.
func (v *visitor) phantom() {
	for !v.fedUp() {
		v.cookie = ""
		v.ask(request{accept: asJSON})
		v.waitMore(v.around(v.world.plan.Settings.RefreshInterval))
	}
}
