package pressure

// ballot are the requests by which an origin is judged. Each visitor has one vote, and gives equal
// parts of it to what they asked for.
type ballot []request

// votes are how much of them was for paths, and how much of that was bad.
type votes struct{ all, bad float64 }

// exceeds reports whether the bad part of the votes is more than a share, and of so many visitors
// that they are not a few who ask for what is slow. The group of paths that has most of the bad
// votes does not count, unless most votes are for it.
func (b ballot) exceeds(share float64, bad marks) bool {
	asked := map[uint64]float64{}
	for _, r := range b {
		asked[r.visitor]++
	}
	var of [groups]votes
	for _, r := range b {
		of[r.group].add(r.marks&bad != 0, 1/asked[r.visitor])
	}
	without := worst(&of, float64(len(asked)))
	var rest votes
	hurt := map[uint64]bool{}
	for _, r := range b {
		if r.group == without {
			continue
		}
		is := r.marks&bad != 0
		rest.add(is, 1/asked[r.visitor])
		if is {
			hurt[r.visitor] = true
		}
	}
	return len(b) >= fewest && len(hurt) >= slowest && rest.bad > share*rest.all
}

// add adds a part of a vote.
func (v *votes) add(bad bool, part float64) {
	v.all += part
	if bad {
		v.bad += part
	}
}

// worst is the group with most of the bad votes; groups for none, if most of all votes are for it.
func worst(of *[groups]votes, all float64) uint8 {
	at := uint8(0)
	for i := range of {
		if of[i].bad > of[at].bad {
			at = uint8(i)
		}
	}
	if 2*of[at].all > all {
		return groups
	}
	return at
}
