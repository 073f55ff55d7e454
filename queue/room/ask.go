package room

// Ask is what a request asks for, and how. The zero Ask is that of somebody who looks at the
// page: they may have a whole session, and else a place in line.
type Ask struct {
	By     Asker
	Slot   SlotAsked
	Place  PlaceAsked
	Prompt Prompt
}

// Asker is what sends a request.
type Asker uint8

// The askers.
const (
	// Page is one that its visitor looks at. If they are in, the request goes to the origin.
	Page Asker = iota

	// HiddenPage is one in a background tab, which browsers slow down to about a check-in a
	// minute: its visitor is counted that long. In a room with ClaimWithin it begins and
	// renews no session: the slot is Kept.
	HiddenPage

	// Question asks how its visitor stands, and does not go to the origin. It may let them
	// in. If they are in already, it neither renews their session nor has a ticket issued.
	Question

	// StandIn is a Question for a visitor who has left, and is told when a slot is theirs: in
	// a room with ClaimWithin it is Kept then.
	StandIn
)

// SlotAsked is which slot a visitor may get.
type SlotAsked uint8

// The slots.
const (
	// AnySlot is one for a whole session, where the room gives those.
	AnySlot SlotAsked = iota

	// ProvisionalSlot is one for a lease: whoever sent the request may never come again,
	// whatever they have brought. A session that was given for a lease before stays so.
	ProvisionalSlot

	// NoSlot lets nobody in, and is a Question: see [Room.CheckIn].
	NoSlot
)

// PlaceAsked is which place in line a visitor may get.
type PlaceAsked uint8

// The places.
const (
	// AnyPlace is a new one, for a visitor who has none.
	AnyPlace PlaceAsked = iota

	// OwnPlace is none but that which they have. A visitor who has none takes a slot that is
	// open to newcomers, or is Busy.
	OwnPlace

	// NoPlace is for a request that cannot be held back, as a form that is being sent: it takes
	// a slot that is open to newcomers, or is Busy. The check-in of somebody who waits is
	// left as it was.
	NoPlace
)

// Prompt is why a request is sent though its visitor's check-in may not be due.
type Prompt uint8

// The prompts.
const (
	Unprompted Prompt = iota

	// Called says that Turns had the visitor: in fifo their check-in counts though it is not
	// due, once until the next one that is.
	Called

	// Returned says that somebody has said goodbye for the visitor, maybe at another node, and
	// they are here all the same: they are counted at this node, if at none.
	Returned
)

// isHidden reports whether a page asks that browsers slow down.
func (a Ask) isHidden() bool { return a.By == HiddenPage }

// isAside reports whether the request does not go to the origin.
func (a Ask) isAside() bool { return a.By == Question || a.By == StandIn || a.Slot == NoSlot }

// isSeen reports whether the visitor sees the answer at once: a page that is hidden and a
// visitor who has left do not.
func (a Ask) isSeen() bool { return a.By != HiddenPage && a.By != StandIn || a.Place == NoPlace }
