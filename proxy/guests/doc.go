// Package guests serves waitlists to the people on them, who are its guests once they have accepted
// an invite. The record of a waitlist, with its rules and its words, is package waitlist of queue;
// the pages are those of package guestpage.
//
//	waitlist.go  a waitlist at work: what it was configured with, and what it does by itself
//	serve.go     the paths of a waitlist, and what all answers have in common
//	signup.go    signing up, at a time that tells nothing
//	place.go     one's own place, and leaving
//	links.go     the links of mails: confirming an address, accepting an invite, coming back
//	door.go      who is a guest, at the door of a room
//	owner.go     the cookie that brings people back to their entries
//
// A gate opens a [Waitlist] for each of its configuration, and keeps it. What is configured is a
// [Setup], which is replaced as a whole.
package guests
