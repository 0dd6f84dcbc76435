import Ingest
import Market
import NIOCore
import Wire

/// An open connection beside the client's first one, until it takes the first one's place.
///
/// The first connection alone brings trades to the tape meanwhile. Trades without ids wait until this one takes its place,
/// and are then compared with what the first one has brought. Frames of this one whose trades are on the tape are
/// dropped. The others wait until the first connection has brought their trades, or until this one takes its place and
/// brings them itself. So no trade comes twice, and a first connection that is some milliseconds behind makes no hole.
final class SecondConnection {
    /// How long after the change this connection may still bring what the first one has brought, ns.
    private static let behindLimit: Int64 = 60_000_000_000
    /// How long after the last request all subscriptions are believed to have taken effect, ns.
    private static let settled: Int64 = 5_000_000_000

    let address: String
    /// Whether it leads to the relay of a program like this one.
    let isRelayed: Bool
    weak var handler: FeedHandler?
    private weak var client: FeedClient?
    private let dialect: any ConnectionDialect
    private(set) var pacer: RequestPacer
    private(set) var proof: OverlapProof
    private var asked: Set<String>
    private var held = HeldFrames()
    /// What the venue said on it that matters to a client of one connection.
    private(set) var refusals: [(text: String, refusal: SymbolRefusal)] = []
    /// When it opened or the newest request was sent; monotonic ns.
    private var requestedAt: Int64
    private var isSettled = false
    /// Since this connection took the first one's place: the newest ids that the first one had brought of the symbols
    /// for which this one may be behind, and until when that counts; monotonic ns.
    private var brought: (ids: [String: UInt64], until: Int64)?

    /// - Parameter symbols: those that the first connection is subscribed to, or is about to be.
    init(
        symbols: [String],
        address: String,
        isRelayed: Bool,
        dialect: any ConnectionDialect,
        pacer: RequestPacer,
        client: FeedClient,
        now: Int64
    ) {
        self.address = address
        self.isRelayed = isRelayed
        self.client = client
        self.dialect = dialect
        self.pacer = pacer
        self.asked = Set(symbols)
        self.proof = OverlapProof(symbols)
        self.requestedAt = now
        for symbol in symbols { self.pacer.append(.subscribe(symbol)) }
    }

    // MARK: Requests

    /// Removes and returns the requests that may be sent now.
    func takeRequests(_ now: Int64) -> [SubscriptionChange] {
        var requests: [SubscriptionChange] = []
        while let message = self.pacer.take(now: now) { requests += message }
        if !requests.isEmpty { self.requestedAt = now }
        return requests
    }

    /// Makes the same requests as the first connection, except for those that it has made already.
    func request(_ changes: [SubscriptionChange]) {
        for change in changes {
            switch change {
            case .subscribe(let symbol):
                guard self.asked.insert(symbol).inserted else { continue }
                self.proof.subscribed(to: symbol)
            case .unsubscribe(let symbol):
                guard self.asked.remove(symbol) != nil else { continue }
                self.proof.unsubscribed(symbol)
                if self.pacer.remove(.subscribe(symbol)) { continue }
            }
            self.isSettled = false
            self.pacer.append(change)
        }
    }

    // MARK: Frames

    /// Whether it has brought trades that wait.
    var hasWaiting: Bool { !self.held.isEmpty }

    /// Whether it is still beside the first one.
    var isBeside: Bool { self.brought == nil }

    /// Takes one text frame of the current read, which was made at `now`; returns whether the tape does not need it.
    func take(_ frame: ByteBuffer, now: Moment) -> Bool {
        guard let client, let handler else { return true }
        guard self.isBeside else { return self.isCopy(frame, client.input, handler, now: now.monotonic) }
        self.takeBeside(frame, client, handler, now)
        return true
    }

    private func takeBeside(_ frame: ByteBuffer, _ client: FeedClient, _ handler: FeedHandler, _ now: Moment) {
        let (ids, event) = self.dialect.survey(frame)
        if case .trades = event {
            handler.monitor.framesArrived(hasTrades: true, now: now.monotonic)
            // The first connection brings them while symbols are missing on this one.
            guard self.pacer.deadline == nil else { return }
            self.held.append(frame, ids: [], at: now.monotonic)
            client.rotation?.overlapAdvanced()
            return
        }
        handler.monitor.framesArrived(hasTrades: !ids.isEmpty, now: now.monotonic)
        if let event { self.take(event, client, handler, now) }
        guard !ids.isEmpty else { return }
        let wasComplete = self.proof.isComplete
        for one in ids {
            self.proof.arrived(one.ids.lowerBound, of: one.symbol, newest: client.input.newestID(of: one.symbol))
        }
        switch self.place(of: ids, client.input) {
        case .seen: break
        case .missing: client.bring([frame], of: handler, now: now.monotonic)
        case .ahead: self.held.append(frame, ids: ids, at: now.monotonic)
        }
        if self.proof.isComplete != wasComplete || self.held.isFull { client.rotation?.overlapAdvanced() }
    }

    private func take(_ event: FeedEvent, _ client: FeedClient, _ handler: FeedHandler, _ now: Moment) {
        switch event {
        case .error(let text, let refusal):
            client.logError(text, now: now)
            if let refusal, refusal.symbol != nil, self.refusals.count < SymbolTable.capacity {
                self.refusals.append((text, refusal))
            }
        case .heartbeats(let areExpected): self.heartbeatsChanged(areExpected, handler)
        case .newest: self.heartbeatsChanged(true, handler)
        case .closing: client.rotation?.secondClosingAnnounced()
        case .service, .trades: client.take(event, on: handler, now: now)
        }
    }

    private func heartbeatsChanged(_ areExpected: Bool, _ handler: FeedHandler) {
        if handler.monitor.heartbeatsChanged(areExpected: areExpected) { handler.deadlineMoved() }
    }

    private enum Place {
        /// All its trades are on the tape.
        case seen
        /// It has trades that the tape lacks, and none that are newer than the tape.
        case missing
        /// It has trades that the first connection has not brought yet.
        case ahead
    }

    private func place(of frame: [FrameIDs], _ input: FeedInput) -> Place {
        var place = Place.seen
        // The first connection brings no others.
        for one in frame where self.asked.contains(one.symbol) {
            guard let newest = input.newestID(of: one.symbol), one.ids.upperBound <= newest else { return .ahead }
            if input.lacks(one.ids, of: one.symbol) { place = .missing }
        }
        return place
    }

    /// Notes that this connection takes the first one's place. It may be some trades behind.
    func takesPlace(now: Int64) {
        guard let client else { return }
        let ids = self.asked.compactMap { symbol in client.input.newestID(of: symbol).map { (symbol, $0) } }
        self.brought = (Dictionary(ids) { first, _ in first }, now.addingCapped(Self.behindLimit))
    }

    /// Returns whether a frame only has trades that the first connection had brought. Such a copy is no repeat of the
    /// venue's.
    private func isCopy(_ frame: ByteBuffer, _ input: FeedInput, _ handler: FeedHandler, now: Int64) -> Bool {
        let ids = self.dialect.survey(frame).ids
        var isCopy = !ids.isEmpty
        for one in ids {
            guard let newest = self.brought?.ids[one.symbol] else {
                isCopy = false
                continue
            }
            if one.ids.upperBound >= newest { self.brought?.ids[one.symbol] = nil }
            if one.ids.upperBound > newest || input.lacks(one.ids, of: one.symbol) { isCopy = false }
        }
        if isCopy { handler.monitor.framesArrived(hasTrades: true, now: now) }
        guard let brought, !brought.ids.isEmpty, now < brought.until else {
            handler.second = nil
            return isCopy
        }
        return isCopy
    }

    /// Notes that the first connection has brought trades.
    func firstAdvanced(now: Int64) {
        guard let client, let handler else { return }
        while let frame = self.held.first, !frame.ids.isEmpty {
            let place = self.place(of: frame.ids, client.input)
            guard place != .ahead else { break }
            _ = self.held.removeFirst()
            if place == .missing { client.bring([frame.bytes], of: handler, now: now) }
        }
        guard !self.proof.isComplete else { return }
        self.proof.firstAdvanced(client.input.newestID)
        if self.proof.isComplete { client.rotation?.overlapAdvanced() }
    }

    /// Removes and returns the waiting frames with trades that the tape lacks.
    func takeHeld() -> [ByteBuffer] {
        guard let client else { return [] }
        var frames: [ByteBuffer] = []
        while !self.held.isEmpty {
            let frame = self.held.removeFirst()
            // Without ids nothing shows what the tape has.
            if frame.ids.isEmpty || self.place(of: frame.ids, client.input) != .seen { frames.append(frame.bytes) }
        }
        return frames
    }

    /// Returns what is known of the two connections at a monotonic time, ns.
    func overlap(now: Int64) -> ConnectionRotation.Overlap {
        var overlap = ConnectionRotation.Overlap()
        guard let client else { return overlap }
        if !self.isSettled, self.pacer.deadline == nil, now - self.requestedAt >= Self.settled {
            self.isSettled = true
            self.proof.subscriptionsTookEffect(client.input.newestID)
        }
        overlap.isProven = self.proof.isComplete && self.pacer.deadline == nil
        overlap.lag = self.held.first.map { now - $0.at } ?? 0
        overlap.isFull = self.held.isFull
        overlap.hasMissed = self.proof.hasMissed(client.input.newestID)
        return overlap
    }
}
