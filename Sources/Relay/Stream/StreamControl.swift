import Market
import NIOCore
import Wire

/// A message of `/v1/stream` that no client may miss, about the state of the feed or of the connection.
///
/// It is kept as a value while it waits, since it gets its number when it is sent.
enum StreamControl {
    case status(FeedStatus)
    case symbol(SymbolStatus)
    case released(String, since: Int64)
    case gap(Gap)
    case settled(GapOutcome)
    case venueDay(VenueDay)
    case resumeGap(reason: String, to: Int64, next: TapePosition)
    case subscribed([String]?, StreamDelivery)
    case subscribedBars([String], BarWidth)
    case bar(PublishedBar)
    case resumed(since: TapePosition, epoch: UInt64, to: UInt64, trades: UInt64, isComplete: Bool)
    case skipped(UInt64, ClosedRange<UInt64>)
    case pong(id: ByteBuffer?, time: Int64)
    case error(String, code: String)
    case replay(ReplayPosition)

    func encoded(number: UInt64) -> ByteBuffer {
        switch self {
        case .status(let status):
            StreamEncoder.status(status, number: number)
        case .symbol(let status):
            StreamEncoder.symbol(status, number: number)
        case .released(let symbol, let since):
            StreamEncoder.released(symbol, since: since, number: number)
        case .gap(let gap):
            StreamEncoder.gap(gap, number: number)
        case .settled(let outcome):
            StreamEncoder.settled(outcome, number: number)
        case .venueDay(let day):
            StreamEncoder.venueDay(day, number: number)
        case .resumeGap(let reason, let to, let next):
            StreamEncoder.resumeGap(
                from: nil,
                to: to,
                reason: reason,
                nextSequence: next.sequence,
                epoch: next.epoch,
                number: number
            )
        case .subscribed(let symbols, let delivery):
            StreamEncoder.subscribed(symbols, delivery: delivery, number: number)
        case .subscribedBars(let symbols, let width):
            StreamEncoder.subscribed(symbols, bars: width, number: number)
        case .bar(let reported):
            StreamEncoder.bar(reported, number: number)
        case .resumed(let since, let epoch, let to, let trades, let isComplete):
            StreamEncoder.resumed(
                epoch: epoch,
                from: since.sequence,
                to: to,
                trades: trades,
                isComplete: isComplete,
                number: number
            )
        case .skipped(let trades, let range):
            StreamEncoder.skipped(trades: trades, in: range, number: number)
        case .pong(let id, let time):
            StreamEncoder.pong(id: id, time: time, number: number)
        case .replay(let position):
            StreamEncoder.replay(position, number: number)
        case .error(let text, let code):
            StreamEncoder.error(text, code: code, number: number)
        }
    }

    /// Its approximate size, bytes.
    var cost: Int {
        if case .subscribedBars(let symbols, _) = self { return 256 + symbols.count * SymbolName.longest }
        if case .subscribed(let symbols?, _) = self { return 256 + symbols.count * SymbolName.longest }
        if case .settled(let outcome) = self { return 512 + outcome.lost.count * 96 }
        return 512
    }
}

extension RelayContext {
    /// Returns a message for one client as a frame, with the next number.
    func frame(_ control: StreamControl) -> ByteBuffer {
        SharedMessage.framed(control.encoded(number: self.numbers.next()))
    }
}
