package browsertest_test

import (
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"testing"
	"time"

	browserdomain "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/serviceworker"
	"github.com/chromedp/cdproto/target"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/browsertest"
	"github.com/fairdoor-gate/fairdoor/proxy/callback"
)

// pushes stands for the browser's push service, of which a test browser has none: PushManager gives
// a subscription of a browser that does not exist. All else is real: the page, its policy, the
// service worker, and the gate.
const pushes = `const subscription = () => localStorage.subscription ? {
  toJSON: () => JSON.parse(localStorage.subscription),
  unsubscribe: async () => delete localStorage.subscription
} : null;
PushManager.prototype.subscribe = async options => {
  window.asked = options;
  localStorage.subscription = '%s';
  return subscription();
};
PushManager.prototype.getSubscription = async () => subscription();
window.Notification = class {};
Notification.permission = 'default';
Notification.requestPermission = async () => sessionStorage.denied ? 'denied' : 'granted';`

// subscription is that of a browser that does not exist, at a service that is never asked: nobody's
// turn comes.
func subscription(t *testing.T) string {
	t.Helper()
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	require.NoError(t, err)
	encode := base64.RawURLEncoding.EncodeToString
	return fmt.Sprintf(`{"endpoint":"https://fcm.googleapis.com/nobody","keys":{"p256dh":%q,"auth":%q}}`, encode(key.PublicKey().Bytes()), encode(make([]byte, 16)))
}

func TestThePageOffersToCallItsVisitorWhoThenLeaves(t *testing.T) {
	t.Parallel()
	room := newRoom(t, time.Second, func(c *proxy.RoomConfig) {
		c.Options = c.Options.With(callback.RoomOptions{On: true})
		c.Settings.ClaimWithin, c.Settings.QueueTicketTTL = time.Minute, 30*time.Minute
	})
	room.person()
	tab := browser.Visitor(t)
	for _, source := range []string{watchPolicy, fmt.Sprintf(pushes, subscription(t))} {
		browsertest.Call(tab, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: source})
	}
	tab.Open(room.url)
	tab.RequireAccessible()
	tab.Look(browsertest.Light, 390, 844)
	tab.Screenshot("page-call")
	click(tab, "#tell")
	tab.Until(`document.getElementById('called').textContent.startsWith('You can close this page.')`)
	tab.RequireAccessible()
	tab.Screenshot("page-called")
	assert.True(t, browsertest.Eval[bool](tab, `document.getElementById('tell').hidden && asked.userVisibleOnly && asked.applicationServerKey.length === 65`))
	tab.Until(`(window.scopes || navigator.serviceWorker.getRegistrations().then(all => { window.scopes = all.map(r => r.active && r.active.state === 'activated' && r.scope.replace(location.origin, '')); })) && window.scopes && scopes.join() === '/.fairdoor/calls/shop/'`)
	assert.False(t, browsertest.Eval[bool](tab, `!!navigator.serviceWorker.controller`), "it has nothing to do with the pages of the site")
	assert.Empty(t, browsertest.Eval[[]string](tab, `forbidden`))

	t.Log("the service worker shows what it is sent, once")
	browsertest.Call(tab, serviceworker.Enable, cdp.Empty{})
	in := browsertest.Call(tab, target.GetTargetInfo, target.GetTargetInfoParams{})
	browsertest.Call(tab, browserdomain.SetPermission, browserdomain.SetPermissionParams{Permission: &browserdomain.PermissionDescriptor{Name: "notifications"}, Setting: "granted", Origin: room.url, BrowserContextID: in.TargetInfo.BrowserContextID})
	require.Eventually(t, func() bool { // a busy browser may lose a message that comes right after the registration
		browsertest.Call(tab, serviceworker.DeliverPushMessage, serviceworker.DeliverPushMessageParams{Origin: room.url, RegistrationID: "0",
			Data: `{"title":"Waiting room","body":"Your slot is kept until {time}.","until":"2026-11-23T12:00:00Z","url":"/.fairdoor/call-back?room=shop","last":true}`})
		return browsertest.Eval[bool](tab, `navigator.serviceWorker.getRegistration('/.fairdoor/calls/shop/').then(r => r.getNotifications()).then(all => /^Your slot is kept until .*\d.*\.$/.test(all.map(n => n.body).join()))`)
	}, 20*time.Second, 100*time.Millisecond)

	t.Log("it asks again when it is loaded again")
	tab.Reload()
	tab.Until(`document.getElementById('called').textContent.startsWith('You can close this page.') && document.getElementById('tell').hidden`)
	from := room.left.Load()
	tab.Open("about:blank")
	room.person()
	assert.Equal(t, from, room.left.Load(), "whoever is called says no goodbye")

	t.Log("whoever forbids it is told")
	other := browser.Visitor(t)
	browsertest.Call(other, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: fmt.Sprintf(pushes, subscription(t)) + "sessionStorage.denied = 1;"})
	other.Open(room.url)
	click(other, "#tell")
	other.Until(`document.getElementById('called').textContent.startsWith('Notifications are blocked.') && !document.getElementById('tell').hidden`)
	other.RequireAccessible()
}
