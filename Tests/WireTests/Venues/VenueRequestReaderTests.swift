import Market
import NIOCore
import Testing
import Wire

@Suite("A client's request to a venue")
struct VenueRequestReaderTests {
    private static func read(_ text: String) -> VenueRequestReader? { VenueRequestReader(ByteBuffer(string: text)) }

    @Test("is read in the forms of the venues' documentation")
    func forms() throws {
        let binance = try #require(
            Self.read(#"{"method":"SUBSCRIBE","params":["btcusdt@trade","ethusdt@trade"],"id":1}"#)
        )
        #expect(binance.verb == "SUBSCRIBE" && binance.names == ["btcusdt@trade", "ethusdt@trade"])
        #expect(binance.id == ByteBuffer(string: "1") && !binance.hasBadID)
        let property = try #require(Self.read(#"{"method":"SET_PROPERTY","params":["combined",true],"id":"a1"}"#))
        #expect(property.names == ["combined"] && property.flag == true && property.id == ByteBuffer(string: #""a1""#))
        let coinbase = try #require(
            Self.read(
                #"{"type":"subscribe","product_ids":["A-B"],"channels":["matches",{"name":"heartbeat","product_ids":["C-D"]}]}"#
            )
        )
        #expect(coinbase.verb == "subscribe" && coinbase.products == ["A-B"])
        #expect(coinbase.channels.map(\.name) == ["matches", "heartbeat"])
        #expect(coinbase.channels.map(\.products) == [nil, ["C-D"]])
        let kraken = try #require(
            Self.read(
                #"{"method":"subscribe","params":{"channel":"trade","symbol":["BTC/USD"],"snapshot":true},"req_id":9}"#
            )
        )
        #expect(kraken.channels.map(\.name) == ["trade"] && kraken.products == ["BTC/USD"])
        #expect(kraken.snapshot == true && kraken.number == 9)
    }

    @Test("reads what this program sends to each venue", arguments: Venue.allCases)
    func ownRequests(_ venue: Venue) throws {
        let symbol = venue == .coinbase ? "COINBASE:BTC-USD" : venue == .kraken ? "KRAKEN:BTC/USD" : "BINANCE:BTCUSDT"
        let request = try #require(VenueRequestReader(VenueRequest.subscribe([symbol]).encoded(for: venue, id: 3)))
        #expect(request.verb?.lowercased() == "subscribe")
        #expect(request.names + request.products == [venue == .binance ? "btcusdt@trade" : venue.native(of: symbol)])
    }

    @Test(
        "that is no object, is cut, or nests or lists too much is refused",
        arguments: [
            "", "[]", "7", "{", #"{"method":"#, #"{"method":"a"}x"#, #"{"params":["a""#, #"{"channels":[{"name":"a"]}"#,
            #"{"id":}"#, #"{"a":"# + String(repeating: "[", count: 100),
            #"{"params":[\#(Array(repeating: #""a""#, count: 4_097).joined(separator: ","))]}"#,
            #"{"product_ids":[\#(Array(repeating: #""a""#, count: 4_097).joined(separator: ","))]}"#,
            #"{"channels":[\#(Array(repeating: #""a""#, count: 4_097).joined(separator: ","))]}"#,
        ]
    )
    func refused(_ text: String) { #expect(Self.read(text) == nil) }

    @Test("with members of other types is read without them")
    func otherTypes() throws {
        let request = try #require(
            Self.read(#"{"method":7,"params":"x","id":{"a":1},"req_id":"x","product_ids":3,"channels":{}}"#)
        )
        #expect(request.verb == nil && request.names == [] && request.number == nil && request.products == [])
        #expect(request.hasBadID)
        for id in ["1.5", "true", "[]", #""\#(String(repeating: "a", count: 37))""#, "99999999999999999999"] {
            #expect(try #require(Self.read(#"{"id":\#(id)}"#)).hasBadID, "\(id)")
        }
        for id in ["0", "-9223372036854775808", "null", #""""#, #""\#(String(repeating: "a", count: 36))""#] {
            #expect(try !#require(Self.read(#"{"id":\#(id)}"#)).hasBadID, "\(id)")
        }
    }

    @Test("of any bytes, cut at any place, is read without a trap")
    func hostile() {
        let text =
            #"{"method":"subscribe","params":{"channel":"trade","symbol":["BTC/USD"],"snapshot":true},"req_id":9,"id":"é\u0041","channels":[{"name":"a","product_ids":["b"]}]}"#
        let bytes = Array(text.utf8)
        for length in 0..<bytes.count { #expect(VenueRequestReader(ByteBuffer(bytes: bytes[..<length])) == nil) }
        var generator = SeededGenerator(seed: 18)
        for _ in 0..<20_000 {
            var changed = bytes
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                changed[Int.random(in: 0..<changed.count, using: &generator)] = UInt8.random(
                    in: 0...255,
                    using: &generator
                )
            }
            _ = VenueRequestReader(ByteBuffer(bytes: changed))
        }
    }
}
