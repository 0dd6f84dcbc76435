import Market
import NIOCore
import NIOEmbedded
import Wire
@testable import Feeds
@testable import MockUpstream

/// A client of a replay that records what is played, each item with its time in ms of the loop.
final class PlayedLog: ReplayOutput {
    private let loop: EmbeddedEventLoop
    var hasRoom = true
    private(set) var log: [String] = []
    private(set) var isEnded = false
    /// The client's action on a close.
    var whenClosed: () -> Void = {}

    init(_ loop: EmbeddedEventLoop) { self.loop = loop }

    private func note(_ text: String) { self.log.append("\(self.loop.now.uptimeNanoseconds / 1_000_000) \(text)") }

    func play(_ message: ReplayMessage) {
        if let number = message.trades.first.flatMap(ReplayRecording.number) { self.note("\(number)") }
    }
    func play(_ signal: RecordedSignal) { self.note("\(signal.kind) \(String(buffer: signal.payload))") }
    func flush() {}
    func changed(_ position: ReplayPosition, movedFrom: Int64?) {}
    func ended() { self.isEnded = true }
    func broke() { self.note("broke") }
    func closed(_ closing: RecordedClosing) {
        self.note("closed \(closing.code) \(closing.reason)")
        self.whenClosed()
    }
    func failed(_ reason: String) { self.note(reason) }

    /// Returns what was recorded since the last call.
    func take() -> [String] {
        defer { self.log = [] }
        return self.log
    }
}
