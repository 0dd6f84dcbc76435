import Market
import NIOCore
import Testing
import Wire

@Suite("A venue's list of symbols")
struct VenueListingTests {
    private static let binance =
        #"{"timezone":"UTC","rateLimits":[{"limit":6000}],"symbols":[{"symbol":"BTCUSDT","status":"TRADING","#
        + #""filters":[{"symbol":"X","minPrice":"0.01"}],"permissionSets":[["SPOT"]]},"#
        + #"{"symbol":"OLDUSDT","status":"BREAK"},7,{"status":"TRADING"}],"sors":[]}"#
    private static let coinbase =
        #"[{"id":"BTC-USD","base_currency":"BTC","status":"online","trading_disabled":false},"#
        + #"{"id":"LOOM-USDC","status":"delisted","trading_disabled":true}]"#
    private static let kraken =
        #"{"error":[],"result":{"XXBTZUSD":{"altname":"XBTUSD","wsname":"XBT/USD","base":"XXBT","fees":[[0,0.4]],"#
        + #""status":"online"},"XDGUSD":{"wsname":"XDG/USD","status":"cancel_only"},"SOLUSD":{"wsname":"SOL/USD"},"#
        + #""XBTUSD.d":{"altname":"XBTUSD.d"}}}"#

    private func list(_ text: String, _ venue: Venue) -> [VenueListing]? {
        VenueListing.list(ByteBuffer(string: text), of: venue)
    }

    private func text(_ venue: Venue) -> String {
        switch venue {
        case .binance: Self.binance
        case .coinbase: Self.coinbase
        case .kraken: Self.kraken
        }
    }

    @Test("is read from Binance's exchangeInfo")
    func exchangeInfo() {
        #expect(
            self.list(Self.binance, .binance) == [
                VenueListing(symbol: "BINANCE:BTCUSDT", name: "BTCUSDT", isTrading: true),
                VenueListing(symbol: "BINANCE:OLDUSDT", name: "OLDUSDT", isTrading: false),
            ]
        )
    }

    @Test("is read from Coinbase's products")
    func products() {
        #expect(
            self.list(Self.coinbase, .coinbase) == [
                VenueListing(symbol: "COINBASE:BTC-USD", name: "BTC-USD", isTrading: true),
                VenueListing(symbol: "COINBASE:LOOM-USDC", name: "LOOM-USDC", isTrading: false),
            ]
        )
    }

    @Test("is read from Kraken's pairs, with the names of the WebSocket's version 2")
    func pairs() {
        #expect(
            self.list(Self.kraken, .kraken) == [
                VenueListing(symbol: "KRAKEN:XXBTZUSD", name: "BTC/USD", isTrading: true),
                VenueListing(symbol: "KRAKEN:XDGUSD", name: "DOGE/USD", isTrading: false),
                VenueListing(symbol: "KRAKEN:SOLUSD", name: "SOL/USD", isTrading: true),
            ]
        )
    }

    @Test("is refused when it is cut anywhere, is another answer, or has nothing usable", arguments: Venue.allCases)
    func damaged(_ venue: Venue) {
        let text = self.text(venue)
        for end in text.indices { #expect(self.list(String(text[..<end]), venue) == nil) }
        for other in [
            "", "null", "[]", "{}", "7", "<html>", #"{"code":-1121,"msg":"Invalid symbol."}"#, #"{"symbols":null}"#,
            #"{"symbols":[]}"#, #"{"error":["EQuery:Unknown asset pair"],"result":null}"#, #"{"message":"x"}"#,
            #"{"result":{"A":7}}"#, text + "x",
            String(repeating: "[", count: 100_000), String(repeating: #"{"result":"#, count: 10_000),
        ] { #expect(self.list(other, venue) == nil, "\(other.prefix(60))") }
        for other in Venue.allCases where other != venue { #expect(self.list(text, other) == nil) }
    }

    @Test("never traps on changed bytes", arguments: Venue.allCases)
    func changed(_ venue: Venue) {
        let bytes = Array(self.text(venue).utf8)
        for index in bytes.indices {
            for byte in [0, 0x22, 0x5B, 0x5C, 0x7B, 0x7D, 0xFF] as [UInt8] {
                var changed = bytes
                changed[index] = byte
                for listing in VenueListing.list(ByteBuffer(bytes: changed), of: venue) ?? [] {
                    #expect(SymbolName.isValid(listing.symbol) && listing.symbol.hasPrefix("\(venue.prefix)"))
                }
            }
        }
    }

    @Test("leaves out names that no person means, and refuses more than 50,000 elements")
    func bounded() {
        let long = String(repeating: "A", count: 100)
        let text = #"[{"id":"\#(long)"},{"id":""},{"id":"A\u0000B"},{"id":"A‮B"},{"id":" A-USD "},{"id":"OK-USD"}]"#
        #expect(self.list(text, .coinbase)?.map(\.name).contains("OK-USD") == true)
        #expect(self.list(text, .coinbase)?.contains { $0.name == long } == false)
        let some = "[" + Array(repeating: #"{"id":"A-B"}"#, count: 50_000).joined(separator: ",") + "]"
        #expect(self.list(some, .coinbase)?.count == 50_000)
        #expect(self.list("[0," + some.dropFirst(), .coinbase) == nil)
    }
}
