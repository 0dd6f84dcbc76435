import Market
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing
import Wire
@testable import Feeds

@Suite("The way to a venue")
struct VenueConnectorTests {
    /// A way that follows a plan: the failure of each attempt, or `nil` for an open connection.
    private final class Plan: Connecting {
        let outcomes: NIOLockedValueBox<[UpstreamFailure?]>

        init(_ outcomes: [UpstreamFailure?]) { self.outcomes = NIOLockedValueBox(outcomes) }

        func connect(
            on loop: any EventLoop,
            reached: @escaping (any Channel) throws -> Void,
            connected: @escaping (any Channel, _ isRelay: Bool) throws -> Void
        ) -> EventLoopFuture<Void> {
            let outcome = self.outcomes.withLockedValue { $0.isEmpty ? UpstreamFailure("no plan") : $0.removeFirst() }
            guard let outcome else { return loop.makeSucceededVoidFuture() }
            return loop.makeFailedFuture(outcome)
        }
    }

    private static let location = UpstreamFailure(
        .binance,
        status: .custom(code: 451, reasonPhrase: ""),
        headers: [:],
        body: #"{"code":0,"msg":"Service unavailable from a restricted location"}"#,
        now: 0
    )

    private func connector(_ first: [UpstreamFailure?], _ second: [UpstreamFailure?]) -> VenueConnector {
        VenueConnector([
            .init(Venue.binance.upstream, Plan(first)), .init(.binanceMarketData, Plan(second)),
        ])
    }

    /// Attempts to connect; returns the words of the failure.
    private func attempt(_ connector: VenueConnector) -> String? {
        let loop = EmbeddedEventLoop()
        let failure = NIOLockedValueBox<String?>(nil)
        connector.connect(on: loop, reached: { _ in }, connected: { _, _ in }).whenFailure { error in
            failure.withLockedValue { $0 = "\(error)" }
        }
        loop.run()
        return failure.withLockedValue { $0 }
    }

    @Test("takes the other address within the same attempt where the first refuses the location, and keeps it")
    func fallback() {
        let connector = self.connector([Self.location], [nil, UpstreamFailure("it broke"), nil])
        #expect(connector.detour == nil && connector.address == Venue.binance.upstream)
        #expect(self.attempt(connector) == nil)
        #expect(connector.address == .binanceMarketData)
        #expect(
            connector.detour?.hasPrefix("through data-stream.binance.vision, since Binance refuses this location")
                == true
        )
        // A failure there leads back to the first address.
        #expect(self.attempt(connector)?.contains("HTTP 451") == true)
        #expect(connector.address == Venue.binance.upstream && connector.detour == nil)
    }

    @Test("names both failures if the other address fails, too")
    func bothFail() {
        let connector = self.connector([Self.location], [UpstreamFailure("a page of HTML")])
        let words = self.attempt(connector) ?? ""
        #expect(words.contains("refuses this location") && words.hasSuffix("; and a page of HTML"))
    }

    @Test("keeps to its address after any other failure")
    func otherFailure() {
        let connector = self.connector([UpstreamFailure("reset", cause: .lost)], [nil])
        #expect(self.attempt(connector) == "reset")
        #expect(connector.address == Venue.binance.upstream)
    }

    @Test(
        "says what a venue's refusal means and what helps",
        arguments: [
            (Venue.binance, 451, "", "", "data-stream.binance.vision", UpstreamFailure.Disposition.retry),
            (.binance, 429, "Retry-After", "7", "too many attempts", .rateLimited(retryAfter: 7_000_000_000)),
            (.binance, 429, "X", "", "too many attempts", .rateLimited(retryAfter: nil)),
            (.binance, 418, "Retry-After", "7", "has banned", .rateLimited(retryAfter: 120_000_000_000)),
            (.binance, 418, "Retry-After", "999", "has banned", .rateLimited(retryAfter: 999_000_000_000)),
            (.binance, 403, "", "", "another network or a proxy", .retry),
            (.coinbase, 401, "", "", "another network or a proxy", .retry),
            (.kraken, 403, "", "", "the edge in front of Kraken", .rateLimited(retryAfter: nil)),
            (.kraken, 503, "", "", "under repair", .retry), (.coinbase, 404, "", "", "check its address", .retry),
            (.coinbase, 302, "Location", "https://example.com/x", "redirects to https://example.com", .retry),
            (.coinbase, 200, "", "", "did not open the WebSocket", .retry),
        ] as [(Venue, Int, String, String, String, UpstreamFailure.Disposition)]
    )
    func words(
        _ venue: Venue,
        _ status: Int,
        _ header: String,
        _ value: String,
        _ words: String,
        _ disposition: UpstreamFailure.Disposition
    ) {
        var headers = HTTPHeaders()
        if !header.isEmpty { headers.add(name: header, value: value) }
        let failure = UpstreamFailure(
            venue,
            status: .init(statusCode: status),
            headers: headers,
            body: "<html>\n<title>No</title>",
            now: 1_800_000_000_000_000_000
        )
        #expect(failure.description.contains(words), "\(failure)")
        #expect(failure.description.hasPrefix(venue.name) || venue == .kraken)
        #expect(failure.disposition == disposition && !failure.description.contains("key"))
        #expect(failure.isOfLocation == (status == 451))
        if status == 503 { #expect(failure.retryAfter == 5_000_000_000) }
    }
}
