import Feeds
import HTTP
import Market
import Relay
import Terminal
import Testing
@testable import Tickertape

@Suite("Holdings and groups in the settings")
struct HoldingSettingsTests {
    private let folder = ScratchFolder()

    func load(_ yaml: String, symbols: [String] = []) throws -> Settings {
        var flags = GivenFlags()
        flags.configFile = self.folder.file("config.yaml", yaml)
        if !symbols.isEmpty { flags.add(.symbols, symbols, flag: "--symbol") }
        return try Settings.load(flags: flags, environment: [:]).settings
    }

    private func message(_ yaml: String) -> String {
        let error = #expect(throws: OperatorError.self) { try self.load(yaml) }
        #expect(error?.status == .configuration)
        return error?.message ?? ""
    }

    static let full = """
        groups:
          - Majors = BINANCE:BTCUSDT KRAKEN:BTC/USD by change reversed
          - Fun coins = "IC MARKETS:1"
        holdings:
          lots:
            - BINANCE:BTCUSDT 0.25 at 61000.50 usdt
            - BINANCE:BTCUSDT 0.25 at 61000.50 USDT
            - COINBASE:ETH-EUR -2 at 0 EUR
          currency: EUR
          rates: [BINANCE:EURUSDT EUR/USDT]
        """

    @Test("are read, and written as they are read")
    func read() throws {
        let settings = try self.load(Self.full)
        #expect(settings.holdings.lots.count == 3 && settings.holdings.currency == "EUR")
        #expect(settings.holdings.lots[0].quantity == ExactDecimal("0.25"))
        #expect(settings.screen.groups[0].sort == TableSort(order: .change, isReversed: true))
        #expect(settings.namedHoldings.rate(from: "USDT")?.symbol == "BINANCE:EURUSDT")
        for key in ["groups", "holdings.lots", "holdings.rates"] {
            let setting = try #require(Setting.named(key))
            let texts = setting.write(settings).dropFirst().dropLast().split(separator: ", ").map(String.init)
            var again = settings
            try setting.read(&again, texts)
            #expect(again == settings && setting.write(again) == setting.write(settings))
        }
    }

    @Test("add their symbols to those that are followed, in place of the default, but not to those of --symbol")
    func followed() throws {
        var settings = try self.load(Self.full)
        settings.followHoldings()
        #expect(
            settings.finnhub.symbols == [
                "BINANCE:BTCUSDT", "KRAKEN:BTC/USD", "IC MARKETS:1", "COINBASE:ETH-EUR", "BINANCE:EURUSDT",
            ]
        )
        #expect(settings.origin(of: .symbols) != .builtIn)
        settings = try self.load("symbols: [X:Y, BINANCE:EURUSDT@venue]\n" + Self.full)
        settings.followHoldings()
        #expect(settings.finnhub.symbols.prefix(3) == ["X:Y", "BINANCE:EURUSDT@venue", "BINANCE:BTCUSDT"])
        #expect(settings.finnhub.symbols.count == 6)
        settings = try self.load(Self.full, symbols: ["X:Y"])
        settings.followHoldings()
        #expect(settings.finnhub.symbols == ["X:Y"])
        settings = try self.load("log:\n  level: info\n")
        settings.followHoldings()
        #expect(settings.finnhub.symbols == ["BINANCE:BTCUSDT"] && settings.origin(of: .symbols) == .builtIn)
    }

    @Test(
        "that are wrong are refused with the cure",
        arguments: [
            ("holdings: {lots: [BINANCE:BTCUSDT 0.25]}", "write it like"),
            ("holdings: {lots: [BINANCE:BTCUSDT x at 5 USDT]}", "write it like"),
            ("holdings: {lots: [BINANCE:BTCUSDT 0 at 5 USDT]}", "holds nothing"),
            ("holdings: {lots: [BINANCE:BTCUSDT 1 at -5 USDT]}", "negative quantity"),
            ("holdings: {lots: [BINANCE:BTCUSDT 1 at 5 $]}", "is not a currency"),
            ("holdings: {lots: [A:B 1 at 5 USD, A:B 1 at 5 EUR]}", "its price has one currency"),
            ("holdings: {lots: [A:B 1 at 5 USD], currency: EUR}", "no rate converts USD to it"),
            ("holdings: {rates: [A:B EUR]}", "is not a rate"),
            ("holdings: {rates: [A:B EUR/EUR]}", "is not a rate"),
            ("groups: [Majors]", "is not a group"),
            ("groups: [\"= A:B\"]", "needs a name"),
            ("groups: [\"A =\"]", "is not a group"),
            ("groups: [\"A = B by size\"]", "has an unknown order"),
            ("groups: [\"A = B\", \"A = C\"]", "twice"),
            ("groups: ['A = \"B']", "quotation mark"),
        ]
    )
    func wrong(_ yaml: String, _ words: String) {
        let message = self.message(yaml)
        #expect(message.contains(words), "\(message)")
    }
}

extension HoldingSettingsTests {
    @Test(
        "give the lots to clients on this machine only unless chosen otherwise, and groups always"
    )
    func clients() throws {
        func lots(_ clients: String, listen: Endpoint?) throws -> Int {
            var settings = try self.load(Self.full)
            settings.holdings.clients = try #require(.init(rawValue: clients))
            settings.relay.listen = listen
            #expect(settings.relayHoldings.groups.count == 2)
            return settings.relayHoldings.holdings.lots.count
        }
        let (here, anywhere) = (Endpoint(host: "127.0.0.1", port: 8080), Endpoint(host: "0.0.0.0", port: 8080))
        #expect(try lots("auto", listen: here) == 3 && lots("auto", listen: nil) == 3)
        #expect(try lots("auto", listen: anywhere) == 0 && lots("always", listen: anywhere) == 3)
        #expect(try lots("never", listen: here) == 0)
    }
}
