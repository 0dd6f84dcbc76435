import Ingest
import Market
import Measurements
import NIOCore
import Recordings
import Wire

/// One recording of an audit. Its frames go onto a tape of its own, which the audit reads.
final class AuditSource {
    /// How many frames are searched for the services that sent them.
    private static let searchedFrames = 1_000
    /// The lead of a trade over its arrival that is still accepted in a plain recording, ns: its start is derived from
    /// its first trade, which may have been a minute old.
    private static let plainTolerance: Int64 = 60_000_000_000

    private let side: AuditSide
    private let audit: TapeAudit
    private let source: LineSource
    private let tape: TapeWriter
    private let input: FeedInput
    private var reader = FrameReader()
    private var next: (line: RecordedLine, followsLoss: Bool, wall: Int64)?

    init(_ path: String, side: AuditSide, audit: TapeAudit) throws(RecordingFailure) {
        self.side = side
        self.audit = audit
        // A plain recording's start is derived from its first trade.
        let start = try RecordingTime.likelyStart(of: path)
        self.source = try LineSource(path, followsSegments: true, startingAt: start)
        SystemErrorText.reportLeftOut(self.source.unreadable)
        try self.source.readAhead()
        self.tape = TapeWriter(epoch: 1, readers: [audit.reader(side)])
        self.input = FeedInput(
            self.tape,
            FeedInput.Settings(name: path, repeats: side == .venue ? .identified : .ignored, isLive: false),
            status: FeedStatus(source: .replay(file: path, speed: 0), phase: .live, since: 0),
            logger: ProgramLog(LogSettings(level: .error)).logger(.audit)
        )
        try self.advance()
    }

    /// Whether a recording's lines have a wall clock.
    static func hasWallClock(_ path: String) throws(RecordingFailure) -> Bool {
        try RecordingStream(path: path).segments[0].header.start != nil
    }

    /// Finds the sides whose trades a recording has, as its first frames show.
    static func sides(of path: String) throws(RecordingFailure) -> Set<AuditSide> {
        let stream = try RecordingStream(path: path)
        var finder = TradeFinder()
        var sides: Set<AuditSide> = []
        var frames = 0
        while frames < Self.searchedFrames, sides.count < AuditSide.allCases.count, let line = try stream.next() {
            guard let frame = line.frame else { continue }
            frames += 1
            // Answers may have filled the gaps in Finnhub's trades.
            guard frame.dialect.answering == nil else { continue }
            if let side = frame.dialect.auditSide, !sides.contains(side), finder.hasTrades(frame) { sides.insert(side) }
        }
        return sides
    }

    /// When the next line was recorded, ns since 1970; `nil` at the end.
    var nextWall: Int64? { self.next?.wall }

    /// Takes the next line.
    func takeNext() throws(RecordingFailure) {
        guard let (line, followsLoss, wall) = self.next else { return }
        try self.advance()
        if followsLoss { self.audit.interrupted(self.side, .gap) }
        switch line.content {
        case .frame(let text, let numbers, let dialect):
            guard dialect.auditSide == self.side else { return }
            if dialect.answering != nil {
                return self.input.take(answer: text, of: dialect, now: Moment(monotonic: wall, wall: wall))
            }
            // The plain form marks no trade, but its clock is the exchange's.
            let limit = line.wall == nil ? wall.addingCapped(Self.plainTolerance) : .max
            self.input.take(text, of: dialect, now: wall) { frame, symbols, trades in
                let first = trades.count
                let content = self.reader.read(frame, of: dialect, symbols: &symbols, into: &trades)
                for place in first..<trades.count
                where trades[place].exchangeTime > limit || numbers?.ahead.contains(place - first) == true {
                    trades[place].marks.insert(.ahead)
                }
                return content
            }
            self.input.endRead(wall: wall)
        case .gap(let gap, _):
            // Ids show the venue's own gaps.
            if self.side == .finnhub, gap.missing == nil { self.audit.interrupted(.finnhub, .gap, symbol: gap.symbol) }
        case .note(let note):
            guard note.kind == .unsubscribe, let symbol = note.symbol else { return }
            self.audit.interrupted(self.side, .absence, symbol: symbol)
        case .header, .unknown, .damaged, .torn, .unreadable: break
        }
    }

    private func advance() throws(RecordingFailure) {
        self.next = try self.source.next().map { ($0.line, $0.loss != nil, self.source.wall(of: $0.line) ?? 0) }
    }
}

extension FrameDialect {
    /// The side of an audit to which trades in this dialect belong; `nil` for another program's relay, which passes on
    /// either.
    fileprivate var auditSide: AuditSide? {
        self == .finnhub ? .finnhub : self.hasIDs ? .venue : nil
    }
}
