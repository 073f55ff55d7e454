package proxy_test

import (
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/queue"
)

func TestASessionThatAHundredClientsShareIsOneSlot(t *testing.T) {
	f := gatetest.Start(t, gatetest.TrustingLoopback, gatetest.Settings(func(s *queue.Settings) { s.TotalActiveUsers = 2 }))
	lender := f.Visitor()
	require.True(t, lender.Get("/").In())
	var clients sync.WaitGroup
	for i := range 100 {
		clients.Go(func() {
			assert.True(t, lender.Twin().Get("/", gatetest.With("X-Forwarded-For", fmt.Sprintf("198.51.%d.7", i))).In())
		})
	}
	clients.Wait()
	f.Pass(2 * time.Second)
	assert.Equal(t, 1, f.Status("shop").Active)
	assert.True(t, f.Visitor().Get("/").In(), "the other slot is open")
}

// A script that keeps no cookies fills the room and leaves a crowd of places behind, all from one
// address.
func TestAFloodWithoutCookiesShutsNobodyOut(t *testing.T) {
	const slots, most, flood = 10, 5, 500
	f := gatetest.Start(t, gatetest.TrustingLoopback, gatetest.Settings(func(s *queue.Settings) {
		s.TotalActiveUsers, s.MaxWaitingPerNetwork, s.ConfirmWithin = slots, most, time.Minute
	}))
	for range flood {
		f.Visitor().Get("/", gatetest.With("X-Forwarded-For", "192.0.2.1"))
	}
	f.Pass(time.Second)
	assert.Equal(t, most, f.Status("shop").Queued)
	var honest []*gatetest.Visitor
	for i := range slots {
		v := f.Visitor()
		require.False(t, v.Get("/", gatetest.With("X-Forwarded-For", fmt.Sprintf("198.51.%d.7", i))).In())
		honest = append(honest, v)
	}
	in := map[*gatetest.Visitor]bool{}
	for range 5 {
		f.Pass(gatetest.Interval)
		for i, v := range honest {
			if !in[v] {
				in[v] = v.Get("/", gatetest.With("X-Forwarded-For", fmt.Sprintf("198.51.%d.7", i))).In()
			}
		}
	}
	assert.Len(t, in, slots)
	for _, got := range in {
		assert.True(t, got, "within two intervals of the time after which a slot without a ticket is open again")
	}
	f.Pass(time.Second)
	assert.Zero(t, f.Status("shop").Queued, "nothing of the flood is left")
}

func TestAHundredReloadsChangeNothing(t *testing.T) {
	for _, method := range []queue.Method{queue.FIFO, queue.Random, queue.Line} {
		t.Run(method.String(), func(t *testing.T) {
			f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) { s.Method = method }))
			f.Waiter()
			v := f.Visitor()
			before := v.Get("/", gatetest.AsJSON)
			for range 100 {
				f.Clock.Add(10 * time.Millisecond)
				a := v.Get("/", gatetest.AsJSON)
				require.Empty(t, a.SetCookies())
				for _, field := range []string{"usersAhead", "arrivedAt", "ticketNumber", "lastUpdated", "refreshIntervalSeconds"} {
					require.Equal(t, before.Told(field), a.Told(field), field)
				}
			}
			f.Pass(time.Second)
			assert.Equal(t, 2, f.Status("shop").Queued)
		})
	}
}

func TestWhatOnlyLooksLikeAnExemptPathIsNotExempt(t *testing.T) {
	f := gatetest.Start(t, gatetest.Room(func(r *proxy.RoomConfig) {
		r.Rules = []route.Rule{{Action: route.BypassWaitingRoom, Match: route.Conditions{PathPrefix: "/healthz"}}}
	}))
	f.Full()
	assert.True(t, f.Visitor().Get("/healthz").In())
	f.Site.Requests()
	for _, target := range []string{
		"/?x=/healthz", "/tickets?/healthz", "/tickets%23/healthz", "/tickets%3F/healthz", "/tickets;/healthz", "/healthz/../tickets", "/healthz/..%2ftickets",
		"/healthz%2f..%2ftickets", "/healthz/%2e%2e/tickets", `/healthz%5c..%5ctickets`, "/x/healthz", "/healthz2", "/healthz;/../tickets", "/%2568ealthz/../x",
	} {
		a := f.Visitor().Get(target, gatetest.With("User-Agent", "kube-probe/1.30"), gatetest.With("X-Original-Url", "/healthz"), gatetest.With("X-Forwarded-Uri", "/healthz"))
		assert.False(t, a.In(), target)
	}
	raw(f, http.MethodGet, "GET /tickets#/healthz HTTP/1.1\r\nHost: shop.test\r\n\r\n")
	assert.Empty(t, f.Site.Requests())
}

// attacks are the tests of each attack that cmd/fairdoor/docs/attacks.md names, wherever they are.
// What cheats gain in line is the matter of package cheats.
var attacks = map[string]string{
	// On tickets.
	"one session for many clients":                   "TestASessionThatAHundredClientsShareIsOneSlot TestOneVisitorHoldsOneSlotWhateverIsAskedAtOnce",
	"an old ticket again, to draw or to enter twice": "TestReplayingOldTicketsWinsNoMoreThanPoliteWaiting TestUsedPlaceIsWorthNothingWhenPlacesAreMadeToLastLonger",
	"a flood without cookies": "TestAFloodWithoutCookiesShutsNobodyOut TestClientsWithoutCookiesLeaveTheSlotsToPeople " +
		"TestACrowdOfOneNetworkWaitsBehindEverybodyElse",
	"a forged or edited ticket, or one of another room or site": "TestTicketsThatAreNotOursAreThoseOfNewVisitors TestTicketsOfSeveralRoomsLiveSideBySide",
	"one ticket spelled in several ways":                        "TestOneTicketSpelledInSeveralWaysIsOneSlot",
	"a ticket from the future, or after its session": "TestTicketsFromTheFutureAreNotTrusted TestSessionLastsFromTheLastRequest " +
		"TestSessionWithoutRenewalLastsFromItsAdmission",
	"a ticket whose session was ended": "TestOriginEndsASession TestRevokedTicketsWaitWhenTheRoomIsFull " +
		"TestRevokedVisitorIsOutEverywhereBeforeTheSlotGoesOn",
	"reloading all the time":         "TestAHundredReloadsChangeNothing TestWhoAsksAllTheTimeGainsNothingInRandomWhateverTheSettings",
	"a race at the opening":          "TestAShuffledPrequeueIsAdmittedInTheOrderThatIsPublished TestNothingTellsTheSecretOfADrawBeforeTheStart",
	"junk cookies before the ticket": "TestFirstTicketThatOpensCounts",
	"a ticket, or the cookie of a pass or an invite, brought from another network or browser": "TestATicketCountsWhereItIsBoundTo TestASharedPlaceGivesTheSharersNothing TestAPassCountsWhereItIsBoundTo " +
		"TestTheCookieOfAnInviteCountsWhereItIsBoundTo TestAnInviteIsOnePersonHoweverManyCookiesThereAreOfIt " +
		"TestAPlaceThatMovesIsBoundToWhereItGoes",
	"a pass or a link to a place, used more often": "TestAFormThatIsSentTwiceIsOneUse TestAHolderIsOneVisitorOnAllDevices TestTheUseOfAPassIsOneUsers " +
		"TestAPlaceMovesToAnotherDeviceOnce TestATicketThatHasMovedStaysVoidForItsSession " +
		"TestAPlaceThatHasMovedDoesNotComeBackByItsCall",
	"codes tried by guessing":                   "TestCodesAreTriedAFewTimesAMinute",
	"programs in place of people":               "TestAPlaceIsForThoseWhoPassTheChallenge TestTheEndlessLineIsInNobodysWay",
	"too many or too large cookies and headers": "TestCookiesThatCannotBeReadAreToldAndTakeNoPlace TestHeadersHaveLimits",
	// Ways around the gate.
	"a path that the origin reads otherwise": "TestEverySpellingThatSomeOriginServesIsGated TestAnyReadingThatIsGuardedIsGuarded " +
		"TestTargetsThatTwoRoomsCouldMeanAreRefused",
	"a host that the origin reads otherwise, or none": "TestNoHostIsTheShopToARealServerAndNotToTheGate TestHostOfAnAbsoluteTargetIsTheOneThatCounts " +
		"TestRequestsWithoutAHostDoNotGoAroundTheRoomOfTheOriginsHost",
	"another method": "TestUnsafeRequestsOfWhoIsQueuedAreRefusedAndCostNoPlace TestProbesTakeNoPlace TestConnectAndTraceAreRefused",
	"a request that looks like a part of a page, a preflight or a prefetch": "TestWhatIsNotCountedIsBoundedByNetwork TestWhatIsMoreThanAPreflightIsAVisitors " +
		"TestPrefetchesOfThoseWhoAreNotInTakeNothing",
	"forwarding headers, and those of the gate or for users": "TestForwardingFieldsOfStrangersAreRemoved TestHeaderOfAStrangerReachesNoOriginByAnyWay " +
		"TestNothingOfOursReachesTheOrigin",
	"'Connection: Cookie' and the like": "TestRequestHeaders TestWhatAHeaderMayNotSayATrailerMayNot",
	"a target that looks like an exempt one": "TestWhatOnlyLooksLikeAnExemptPathIsNotExempt TestRulesExemptFromTheRoomUncounted " +
		"TestNoSpellingIsBypassedAsSomethingElse",
	"odd queries": "TestAThousandRandomTargetsAreSentByteForByte",
	"two requests in one": "TestSmuggling TestABodyThatTheOriginIgnoresIsNoRequestOfTheNextVisitors " +
		"TestTargetsOfHTTP2ThatWouldSplitTheRequestLine",
	"a cache that keeps a ticket, or what those get who are in": "TestAnswersWithATicketAreKeptOutOfSharedCaches TestAnNginxThatCachesServesNobodyWhoWaitsWhatOthersGet",
	"straight to the origin":                                    "TestOriginsCanTellWhatComesThroughTheGate",
	"checks of strangers, or of another target":                 "TestChecksOfStrangersAreRefused TestACheckIsAboutTheMethodHostAndPathThatTheProxyNames",
	"a made-up header of the PROXY protocol":                    "TestNobodyElseIsBelieved",
	"an address that leads elsewhere, text that comes back": "TestNothingThatAStrangerSendsComesBack TestTheLinkLeadsToWhereOneCanWait " +
		"TestThePageIsLoadedAgainAtItsOwnAddress",
	"templates": "TestEverythingThatIsWrongWithATemplateIsReported TestValuesAreEscapedInAPage",
	"the admin API from pages of other sites, webhooks to private addresses": "TestAdminRefusesWithProblems TestAPageOfAnotherSiteSwitchesNothing " +
		"TestPrivateAddressesAreRefusedAtTheConnection TestARedirectIsNotFollowed",
	// Of exhaustion.
	"streams of HTTP/2 that are given up at once": "TestAConnectionOfHTTP2HasAHundredStreamsAtMost TestANewcomerWhoseStreamIsResetBeforeTheAnswerTakesNoPlace",
	"headers, bodies and reading that take for ever": "TestAHeaderThatDoesNotComeIsNotWaitedFor TestABodyThatStopsComingIsNotWaitedFor " +
		"TestAVisitorWhoStopsReadingIsCutOff TestAVisitorWhoReadsSlowlyButSteadilyGetsItAll",
	"a huge body of somebody who waits":                 "TestBodyOfWhoIsQueuedIsNotRead",
	"streams and goodbyes by other sites, or very many": "TestAVisitorHasAFewStreamsAtMost TestGoodbyesOfListedSitesCount TestWhoseStreamItIs",
	"connections or streams that ask as fast as they can, for whatever": "TestInAFloodConnectionsThatPollTooOftenAreClosedAndNoOthers " +
		"TestInAFloodEveryKindOfRequestIsShedOfThoseWhoAreNotIn TestAShedConnectionIsClosedLaterAndWithoutAnAnswer " +
		"TestAShedStreamOfHTTP2IsResetLaterAndItsConnectionGoesOn TestNewcomersWhoAreShedTakeNoPlace",
	"a connection that outlives its session": "TestSessionStaysActiveWhileAnAnswerIsUnderWay TestWebsocketOfWhoWaitsIsNotOpened",
}

func TestEachAttackHasTestsThatThereAre(t *testing.T) {
	there := map[string]bool{}
	require.NoError(t, filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		code, err := os.ReadFile(path)
		for _, found := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllStringSubmatch(string(code), -1) {
			there[found[1]] = true
		}
		return err
	}))
	require.NotEmpty(t, there)
	for attack, tests := range attacks {
		require.NotEmpty(t, strings.Fields(tests), attack)
		for _, test := range strings.Fields(tests) {
			assert.True(t, there[test], "%s: %s is listed", attack, test)
		}
	}
}
