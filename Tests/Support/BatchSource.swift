import Market
import NIOConcurrencyHelpers
import NIOCore
package import Wire

/// The arguments of all calls of a callback.
package final class Calls: Sendable {
    private let values = NIOLockedValueBox<[String]>([])
    package init() {}

    package var all: [String] { self.values.withLockedValue { $0 } }
    package func add(_ value: String) { self.values.withLockedValue { $0.append(value) } }
}

/// A source of numbered batches, made from frames.
package struct BatchSource {
    private var tape = Tape(epoch: 7)
    private var symbols = SymbolTable()
    private var parser = FinnhubParser()

    package init() {}

    /// Begins a new epoch, in which symbols get new numbers.
    package mutating func beginAnew() {
        self.tape = Tape(epoch: self.tape.epoch + 1)
        self.symbols = SymbolTable()
    }

    package mutating func batch(_ frames: [String], received: Int64 = 0) -> TapeBatch {
        var trades: [Trade] = []
        var taken: [TapeBatch.Frame] = []
        for frame in frames {
            let bytes = ByteBuffer(string: frame)
            let start = trades.count
            let message = self.parser.parse(bytes, symbols: &self.symbols, into: &trades)
            let places = start..<trades.count
            let isWhole = message.isWhole
            taken.append(TapeBatch.Frame(bytes: bytes, trades: places, isWhole: isWhole, isMalformed: !isWhole))
        }
        return TapeBatch(
            epoch: self.tape.epoch,
            firstSequence: self.tape.append(count: trades.count),
            received: received,
            receivedMonotonic: Int64(NIODeadline.now().uptimeNanoseconds),
            trades: trades,
            frames: taken,
            symbols: self.symbols
        )
    }
}

/// Frames in the form that Finnhub sends.
package enum Frames {
    package static let btc = "BINANCE:BTCUSDT"
    package static let eth = "BINANCE:ETHUSDT"

    /// Returns a frame with one trade; `time` is an offset of the exchange's clock in ms.
    package static func trade(_ symbol: String, _ price: String, size: String = "0.02", time: Int = 0) -> String {
        #"{"data":[\#(Self.element(symbol, price, size: size, time: time))],"type":"trade"}"#
    }

    package static func trades(_ elements: String...) -> String {
        #"{"data":[\#(elements.joined(separator: ","))],"type":"trade"}"#
    }

    package static func element(_ symbol: String, _ price: String, size: String = "0.02", time: Int = 0) -> String {
        #"{"c":null,"p":\#(price),"s":"\#(symbol)","t":\#(1_723_161_255_342 + time),"v":\#(size)}"#
    }
}
