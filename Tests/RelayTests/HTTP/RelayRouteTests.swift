import Testing
@testable import Relay

@Suite("The paths of the HTTP API")
struct RelayRouteTests {
    @Test("the refusal of an unknown path names all that exist")
    func paths() {
        #expect(
            RelayRoute.paths == [
                "/", "/livez", "/readyz", "/metrics", "/v1/status", "/v1/uptime", "/v1/completeness", "/v1/snapshot",
                "/v1/news", "/v1/symbols", "/v1/replay", "/v1/audit", "/v1/holdings", "/v1/settings",
                "/v1/snapshot/SYMBOL", "/v1/trades/SYMBOL", "/v1/bars/SYMBOL",
            ]
        )
        for path in RelayRoute.paths { #expect(RelayRoute(path[...]) != nil, "\(path)") }
        let hint = HTTPRefusal.notFound(webSockets: ["/", "/v1/stream"]).hint ?? ""
        #expect(hint.hasPrefix("GET /, /livez, ") && hint.hasSuffix(", or a WebSocket to / or /v1/stream"), "\(hint)")
    }

    @Test(
        "a path with a part too many or too few, or without its slash, is unknown",
        arguments: [
            "", "livez", "/v1", "/v1/trades", "/v1/bars", "/v1/news/A", "/v1/symbols/A", "/v1/replay/A", "/v1/audit/A",
            "/livez/x",
            "/v1/snapshot/A/B", "/v1/News", "/v1/nothing", "/nothing/A/B",
        ]
    )
    func unknown(path: String) {
        #expect(RelayRoute(path[...]) == nil)
    }

    @Test("empty parts are ignored, and a symbol stays as it is in the path")
    func parts() {
        guard case .news? = RelayRoute("//v1//news/") else {
            Issue.record("no news")
            return
        }
        guard case .trades("A%3AB")? = RelayRoute("/v1/trades/A%3AB") else {
            Issue.record("no trades")
            return
        }
        guard case .symbolSnapshot("A")? = RelayRoute("/v1/snapshot/A") else {
            Issue.record("no snapshot")
            return
        }
    }
}
