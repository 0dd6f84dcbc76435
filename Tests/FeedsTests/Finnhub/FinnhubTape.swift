import TLS
import Ingest
import Logging
import Market
import NIOCore
import Wire
@testable import Feeds

/// A tape with one feed, to which the test passes frames like a Finnhub connection.
final class FinnhubTape {
    let input: FeedInput
    private let tape: TapeWriter
    private var reader: FinnhubFrameReader

    init(
        epoch: UInt64,
        readers: [any TapeReader],
        key: Secret? = nil,
        isLive: Bool = true,
        marks: FrameMarks? = nil
    ) {
        self.tape = TapeWriter(epoch: epoch, readers: readers)
        self.input = FeedInput(
            self.tape,
            FeedInput.Settings(name: "Finnhub", isLive: isLive, marks: marks),
            status: FeedStatus(source: .live, phase: .live, since: 0),
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        )
        self.reader = FinnhubFrameReader(key: key)
    }

    @discardableResult
    func take(_ bytes: ByteBuffer, now: Int64) -> FinnhubMessage {
        if self.input.hasDueMarks { self.input.obeyMarks(now: Moment(monotonic: now, wall: now)) }
        return self.reader.take(bytes, into: self.input, now: now)
    }

    func endRead(_ now: Moment) { self.input.endRead(wall: now.wall) }
}
