package rpc_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/proxy/listen"
	"github.com/fairdoor-gate/fairdoor/proxy/listen/listentest"
	"github.com/fairdoor-gate/fairdoor/proxy/origin"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// The calls of the tests' service, one of each kind.
const (
	unary     = "/shop.Shop/Unary"
	fromSite  = "/shop.Shop/FromSite"
	toSite    = "/shop.Shop/ToSite"
	bothWays  = "/shop.Shop/BothWays"
	tooLate   = "too late"
	forbidden = "forbidden"
)

// shop answers each message with the same.
type shop struct{}

var errForbidden = status.Error(codes.PermissionDenied, "not 100% yours")

func (shop) unary(ctx context.Context, in *wrapperspb.StringValue) (*wrapperspb.StringValue, error) {
	if err := grpc.SetTrailer(ctx, metadata.Pairs("shop-trailer", "after "+in.Value)); err != nil {
		return nil, err
	}
	switch in.Value {
	case tooLate:
		<-ctx.Done() // by the deadline of the call
		return nil, status.FromContextError(ctx.Err()).Err()
	case forbidden:
		return nil, errForbidden
	}
	return in, nil
}

func (shop) fromSite(s grpc.ServerStream) error {
	var in wrapperspb.StringValue
	if err := s.RecvMsg(&in); err != nil {
		return err
	}
	for range 3 {
		if err := s.SendMsg(&in); err != nil {
			return err
		}
	}
	return nil
}

func (shop) toSite(s grpc.ServerStream) error {
	all := ""
	for {
		var in wrapperspb.StringValue
		switch err := s.RecvMsg(&in); {
		case errors.Is(err, io.EOF):
			return s.SendMsg(wrapperspb.String(all))
		case err != nil:
			return err
		}
		all += in.Value
	}
}

func (shop) bothWays(s grpc.ServerStream) error {
	for {
		var in wrapperspb.StringValue
		if err := s.RecvMsg(&in); errors.Is(err, io.EOF) {
			s.SetTrailer(metadata.Pairs("shop-trailer", "over"))
			return errForbidden
		} else if err != nil {
			return err
		}
		if err := s.SendMsg(&in); err != nil {
			return err
		}
	}
}

// newShop starts a real server of gRPC, with TLS or without, and returns its address.
func newShop(t *testing.T, options ...grpc.ServerOption) (address string) {
	t.Helper()
	stream := func(name string, serve func(shop, grpc.ServerStream) error, server, client bool) grpc.StreamDesc {
		return grpc.StreamDesc{StreamName: name, ServerStreams: server, ClientStreams: client,
			Handler: func(_ any, s grpc.ServerStream) error { return serve(shop{}, s) }}
	}
	server := grpc.NewServer(options...)
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "shop.Shop", HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{MethodName: "Unary", Handler: func(_ any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			var in wrapperspb.StringValue
			if err := decode(&in); err != nil {
				return nil, err
			}
			return shop{}.unary(ctx, &in)
		}}},
		Streams: []grpc.StreamDesc{
			stream("FromSite", shop.fromSite, true, false),
			stream("ToSite", shop.toSite, false, true),
			stream("BothWays", shop.bothWays, true, true),
		},
	}, shop{})
	return serve(t, server)
}

func serve(t *testing.T, server *grpc.Server) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	t.Cleanup(func() {
		server.Stop()
		assert.NoError(t, <-served)
	})
	return l.Addr().String()
}

// gate is one in front of a site, which speaks HTTP/2 without TLS to visitors.
func gate(t *testing.T, site string, changes ...func(*proxy.Config, *proxy.Options)) (f *gatetest.Fixture, calls *grpc.ClientConn) {
	t.Helper()
	u, err := url.Parse(site)
	require.NoError(t, err)
	f = gatetest.Start(t, append(changes, func(c *proxy.Config, _ *proxy.Options) {
		for i := range c.Rooms {
			c.Rooms[i].Origin = u
		}
	})...)
	address, _ := listentest.Serve(t, listen.Config{Handler: f.Gate, Plain2: true, ProgressTimeout: progress})
	return f, client(t, address, insecure.NewCredentials())
}

func client(t *testing.T, address string, by credentials.TransportCredentials) *grpc.ClientConn {
	t.Helper()
	calls, err := grpc.NewClient(address, grpc.WithTransportCredentials(by))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, calls.Close()) })
	return calls
}

// progress is for how long a visitor may make none.
const progress = 200 * time.Millisecond

func withCookies(ctx context.Context, v *gatetest.Visitor) context.Context {
	for name, value := range v.Cookies {
		ctx = metadata.AppendToOutgoingContext(ctx, "cookie", name+"="+value)
	}
	return ctx
}

func TestCallsOfEveryKindPassTheGate(t *testing.T) {
	t.Parallel()
	_, calls := gate(t, "h2c://"+newShop(t), gatetest.InRealTime)
	passEveryCall(t, calls)
}

func passEveryCall(t *testing.T, calls *grpc.ClientConn) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), gatetest.Patience)
	defer cancel()
	var (
		out             wrapperspb.StringValue
		header, trailer metadata.MD
	)
	require.NoError(t, calls.Invoke(ctx, unary, wrapperspb.String("tea"), &out, grpc.Header(&header), grpc.Trailer(&trailer)))
	assert.Equal(t, "tea", out.Value)
	assert.Equal(t, []string{"after tea"}, trailer["shop-trailer"])
	for _, cookie := range header["set-cookie"] { // the visitor is in, and says so with each call
		name, _, _ := strings.Cut(cookie, ";")
		ctx = metadata.AppendToOutgoingContext(ctx, "cookie", name)
	}

	err := calls.Invoke(ctx, unary, wrapperspb.String(forbidden), &out, grpc.Trailer(&trailer))
	assert.Equal(t, status.Convert(errForbidden).Proto().String(), status.Convert(err).Proto().String(), "the site's own status")
	assert.Equal(t, []string{"after " + forbidden}, trailer["shop-trailer"])

	from, err := calls.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, fromSite)
	require.NoError(t, err)
	require.NoError(t, from.SendMsg(wrapperspb.String("tea")))
	require.NoError(t, from.CloseSend())
	for range 3 {
		require.NoError(t, from.RecvMsg(&out))
	}
	assert.ErrorIs(t, from.RecvMsg(&out), io.EOF)

	to, err := calls.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true}, toSite)
	require.NoError(t, err)
	for _, part := range []string{"t", "e", "a"} {
		require.NoError(t, to.SendMsg(wrapperspb.String(part)))
	}
	require.NoError(t, to.CloseSend())
	require.NoError(t, to.RecvMsg(&out))
	assert.Equal(t, "tea", out.Value)

	both, err := calls.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, bothWays)
	require.NoError(t, err)
	for _, word := range []string{"tea", "and", "milk"} { // each is answered before the next is sent
		require.NoError(t, both.SendMsg(wrapperspb.String(word)))
		require.NoError(t, both.RecvMsg(&out))
		assert.Equal(t, word, out.Value)
		silence, over := context.WithTimeout(t.Context(), 2*progress) // a call may say nothing for longer than another body may
		<-silence.Done()
		over()
	}
	require.NoError(t, both.CloseSend())
	assert.Equal(t, codes.PermissionDenied, status.Code(both.RecvMsg(&out)))
	assert.Equal(t, []string{"over"}, both.Trailer()["shop-trailer"])
}

func TestDeadlinesOfCallsReachTheSite(t *testing.T) {
	t.Parallel()
	_, calls := gate(t, "h2c://"+newShop(t))
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	err := calls.Invoke(ctx, unary, wrapperspb.String(tooLate), new(wrapperspb.StringValue))
	assert.Equal(t, codes.DeadlineExceeded, status.Code(err))
}

func TestWhoHasToWaitGetsAStatusThatSaysWhenToTryAgain(t *testing.T) {
	t.Parallel()
	f, calls := gate(t, "h2c://"+newShop(t))
	in := f.Visitor()
	in.Get("/")
	waits := f.Visitor()
	waits.Get("/")
	told, trailer := refusal(withCookies(t.Context(), waits), calls)
	assert.Equal(t, codes.Unavailable, told.Code())
	assert.Regexp(t, `^waiting to be let in; try again in \d+ seconds$`, told.Message())
	require.Len(t, told.Details(), 1)
	retry, ok := told.Details()[0].(*errdetails.RetryInfo)
	require.True(t, ok)
	assert.Positive(t, retry.RetryDelay.AsDuration())
	assert.NotEmpty(t, trailer["grpc-retry-pushback-ms"])

	told, trailer = refusal(t.Context(), calls)
	assert.Equal(t, codes.Unavailable, told.Code(), "a newcomer")
	assert.Equal(t, "not passed on, and without a place in line: GET takes one", told.Message())
	assert.Empty(t, told.Details(), "a call takes no place, however often it is made")
	assert.Empty(t, trailer["grpc-retry-pushback-ms"])
	var out wrapperspb.StringValue
	require.NoError(t, calls.Invoke(withCookies(t.Context(), in), unary, wrapperspb.String("tea"), &out))
	assert.Equal(t, "tea", out.Value, "who is in passes by the cookie")
}

// refusal is what a call is told that does not get to the site.
func refusal(ctx context.Context, calls *grpc.ClientConn) (told *status.Status, trailer metadata.MD) {
	err := calls.Invoke(ctx, unary, wrapperspb.String("tea"), new(wrapperspb.StringValue), grpc.Trailer(&trailer))
	return status.Convert(err), trailer
}

func TestWhoIsRefusedIsNotToldToTryAgain(t *testing.T) {
	t.Parallel()
	_, calls := gate(t, "h2c://"+newShop(t), func(c *proxy.Config, _ *proxy.Options) { c.Rooms[0].Settings.Method = queue.Reject })
	told, trailer := refusal(t.Context(), calls)
	assert.Equal(t, codes.PermissionDenied, told.Code())
	assert.Equal(t, "nobody is let in", told.Message())
	assert.Empty(t, told.Details())
	assert.Empty(t, trailer["grpc-retry-pushback-ms"])
}

// Only an origin that takes calls is sent a body that may stand still.
func TestABodyThatSaysItIsACallIsCutOffWhereNoneAreTaken(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	site := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		ended <- err
	}))
	t.Cleanup(site.Close)
	u, err := url.Parse(site.URL)
	require.NoError(t, err)
	to, err := origin.New(origin.Config{URL: u})
	require.NoError(t, err)
	t.Cleanup(to.Close)
	own := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { // as the gate's forms do
		_, err := io.Copy(io.Discard, r.Body)
		ended <- err
	})
	for name, h := range map[string]http.Handler{"a form of the gate": own, "a site of HTTP/1.1": to} {
		address, _ := listentest.Serve(t, listen.Config{Handler: h, Plain2: true, ProgressTimeout: progress})
		silent, err := client(t, address, insecure.NewCredentials()).NewStream(t.Context(), &grpc.StreamDesc{ClientStreams: true}, toSite)
		require.NoError(t, err, name)
		require.NoError(t, silent.SendMsg(wrapperspb.String("tea")), name)
		select {
		case err := <-ended:
			assert.Error(t, err, name)
		case <-time.After(gatetest.Patience):
			assert.Fail(t, "it is waited for", name)
		}
	}
}

func TestACallThatTheSiteDoesNotAnswerIsUnavailable(t *testing.T) {
	t.Parallel()
	_, calls := gate(t, "h2c://127.0.0.1:1")
	err := calls.Invoke(t.Context(), unary, wrapperspb.String("tea"), new(wrapperspb.StringValue))
	assert.Equal(t, codes.Unavailable, status.Code(err))
}

func TestCallsPassWithTLSOnBothSides(t *testing.T) {
	t.Parallel()
	keys := httptest.NewUnstartedServer(nil)
	keys.StartTLS()
	t.Cleanup(keys.Close)
	roots := x509.NewCertPool()
	roots.AddCert(keys.Certificate())
	trusting := &tls.Config{RootCAs: roots, ServerName: "example.com", MinVersion: tls.VersionTLS12}
	u, err := url.Parse("h2://" + newShop(t, grpc.Creds(credentials.NewServerTLSFromCert(&keys.TLS.Certificates[0]))))
	require.NoError(t, err)
	site, err := origin.New(origin.Config{URL: u, TLS: trusting})
	require.NoError(t, err)
	t.Cleanup(site.Close)
	address, _ := listentest.Serve(t, listen.Config{Handler: site, ProgressTimeout: progress,
		Managed: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &keys.TLS.Certificates[0], nil }})
	passEveryCall(t, client(t, address, credentials.NewTLS(trusting)))
}

func TestTheHealthOfASiteOfCallsIsAskedForByCalls(t *testing.T) {
	t.Parallel()
	says := health.NewServer()
	server := grpc.NewServer()
	healthpb.RegisterHealthServer(server, says)
	u, err := url.Parse("h2c://" + serve(t, server))
	require.NoError(t, err)
	site, err := origin.New(origin.Config{URL: u, Health: origin.Health{Path: origin.GRPCHealth}, ProbeInterval: time.Millisecond})
	require.NoError(t, err)
	t.Cleanup(site.Close)
	site.Watch()
	for _, failing := range []bool{true, false, true} {
		now := healthpb.HealthCheckResponse_SERVING
		if failing {
			now = healthpb.HealthCheckResponse_NOT_SERVING
		}
		says.SetServingStatus("", now)
		require.Eventually(t, func() bool { return site.Failing() == failing }, gatetest.Patience, time.Millisecond)
	}
}
