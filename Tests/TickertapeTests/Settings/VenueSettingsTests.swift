import Testing
import Wire
@testable import Feeds
@testable import Tickertape

@Suite("The settings of a venue's feed")
struct VenueSettingsTests {
    private static func requestsTrades(stream: String? = nil, service: String? = nil) throws -> Bool {
        var settings = Settings()
        if let stream {
            settings.venues.binance.stream = UpstreamAddress(isEncrypted: true, host: stream, port: 9_443)
        }
        if let service {
            settings.venues.binance.service = UpstreamAddress(isEncrypted: true, host: service, port: 443)
        }
        return try settings.liveFeed(of: .binance, symbols: ["BINANCE:BTCUSDT"]).backfill
    }

    @Test("request missing trades, but not from the venue for a server on this machine")
    func backfill() throws {
        #expect(try Self.requestsTrades())
        #expect(try Self.requestsTrades(stream: "mirror.example"))
        #expect(try !Self.requestsTrades(stream: "127.0.0.1"))
        #expect(try !Self.requestsTrades(stream: "localhost"))
        #expect(try Self.requestsTrades(stream: "127.0.0.1", service: "localhost"))
        var settings = Settings()
        settings.venues.backfill = false
        #expect(try !settings.liveFeed(of: .binance, symbols: []).backfill)
    }
}
