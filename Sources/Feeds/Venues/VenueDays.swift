import Market
import NIOCore
import Wire

/// The requests for the venue's own figures of the last 24 hours: a round for all wanted symbols, again and again.
///
/// A failure only makes a pause: the figures on the screen grow old and disappear. Belongs to one event loop.
final class VenueDays {
    /// The time between two rounds, and after a failure that names no time.
    private static let interval: TimeAmount = .seconds(60)
    private static let pause: TimeAmount = .minutes(5)
    /// The most requests of a round; the next round continues behind them. The limit for all rare requests to a service
    /// is ``ServiceCalls/maximum`` a minute.
    static let maximumRequests = 10

    private let service: VenueService
    private let loop: any EventLoop
    private let wallClock: @Sendable () -> Int64
    /// Returns the wanted symbols.
    private let symbols: () -> [String]
    private let take: (VenueDay) -> Void
    private var timer: Scheduled<Void>?
    /// The requests of the round that are left.
    private var round: ArraySlice<VenueDayRequest> = []
    /// The place of the first symbol of the next round.
    private var place = 0
    /// Whether the rounds have begun. From then on a timer or a request is always under way.
    private var hasBegun = false
    private var isStopped = false

    init(
        _ service: VenueService,
        on loop: any EventLoop,
        wallClock: @escaping @Sendable () -> Int64,
        symbols: @escaping () -> [String],
        take: @escaping (VenueDay) -> Void
    ) {
        self.service = service
        self.loop = loop
        self.wallClock = wallClock
        self.symbols = symbols
        self.take = take
    }

    /// Begins the rounds, unless they have begun.
    func start() {
        guard !self.hasBegun, !self.isStopped else { return }
        self.hasBegun = true
        self.beginRound()
    }

    func stop() {
        self.isStopped = true
        self.timer?.cancel()
        self.timer = nil
    }

    private func beginRound() {
        self.timer = nil
        self.round = Self.round(self.service.venue, self.symbols(), from: &self.place)[...]
        self.goOn()
    }

    /// Returns the requests of a round, and moves the place behind their symbols.
    static func round(_ venue: Venue, _ symbols: [String], from place: inout Int) -> [VenueDayRequest] {
        guard !symbols.isEmpty else { return [] }
        let size = VenueDayRequest.maximumSymbols(of: venue)
        let start = place % symbols.count
        // The edge in front of Kraken counts these, too (``ReconnectBackoff/Settings/requests(to:)``).
        let count = min(symbols.count, size * (venue == .kraken ? 1 : Self.maximumRequests))
        let wanted = (0..<count).map { symbols[(start + $0) % symbols.count] }
        place = (start + count) % symbols.count
        return stride(from: 0, to: wanted.count, by: size).map {
            VenueDayRequest(venue, Array(wanted[$0..<min($0 + size, wanted.count)]))
        }
    }

    private func goOn() {
        guard !self.isStopped else { return }
        guard let request = self.round.popFirst() else { return self.wait(Self.interval) }
        let (service, wallClock, loop) = (self.service, self.wallClock, self.loop)
        let bound = NIOLoopBound(self, eventLoop: self.loop)
        Task {
            let days = await service.get(request.path, query: request.query, what: "\(service.venue.name)'s last day") {
                let days = request.days(in: $0, received: wallClock())
                return days.isEmpty ? nil : days
            }
            loop.execute { bound.value.arrived(days) }
        }
    }

    private func arrived(_ days: Result<[VenueDay], ServiceFailure>) {
        guard !self.isStopped else { return }
        switch days {
        case .success(let days):
            for day in days { self.take(day) }
            self.goOn()
        // One symbol without figures must not cost those behind it theirs.
        case .failure(let failure) where failure.kind == .unreadableAnswer: self.goOn()
        case .failure(let failure):
            self.round = []
            guard case .rateLimited(let until) = failure.kind else { return self.wait(Self.pause) }
            self.wait(max(Self.pause, .nanoseconds(until - self.wallClock())))
        }
    }

    private func wait(_ time: TimeAmount) {
        let bound = NIOLoopBound(self, eventLoop: self.loop)
        self.timer = self.loop.scheduleTask(in: time) { bound.value.beginRound() }
    }
}
