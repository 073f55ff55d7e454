// Package challenge has visitors show that they are people, before they get a place in line. A
// widget of a provider does that on a page of the gate, and gives the visitor an answer; the gate
// asks the provider whether the answer is right, which it is once. Providers are Turnstile,
// hCaptcha, reCAPTCHA, and all others whose widget calls the func that data-callback names, and who
// take secret and response at an address such as siteverify.
//
// The package knows nothing of the queue: who has passed gets a ticket from the gate.
package challenge
