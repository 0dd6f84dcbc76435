import Ingest
import Logging
import Market
import NIOCore
import Wire

/// The input of a feed: it takes the trades of a ``VenueBackfill``, and knows which are missing.
protocol BackfillInput: AnyObject {
    /// The ids that the tape lacks, by symbol.
    var missing: [MissingTrades] { get }
    func take(answer: ByteBuffer, of dialect: FrameDialect, now: Moment)
    func giveUp(_ ids: ClosedRange<UInt64>, of symbol: String, reason: String, now: Moment)
}

extension FeedInput: BackfillInput {}

/// The feed of a ``VenueBackfill``.
protocol VenueBackfillDelegate: AnyObject {
    /// Notes that ``VenueBackfill/problem`` has changed.
    func backfillProblemChanged()
}

/// The requests for the missing trades of a venue's feed, in the background: one at a time, within the venue's limits,
/// and across restarts.
///
/// ``Backfill`` decides what is requested; this type sends it and waits. Belongs to the feed's event loop.
final class VenueBackfill {
    private enum State {
        /// Nothing was missing yet, so the budget is not loaded.
        case unloaded
        /// Waits for the disk: to load the budget, or to save the next request.
        case looking
        case resting
        case waiting(Scheduled<Void>)
        /// A request is under way.
        case asking
        case stopped
    }

    /// The shortest wait for the budget that is a problem for people, ns.
    private static let longWait: Int64 = 5_000_000_000

    private let venue: Venue
    private let source: any VenueTradesSource
    private let input: any BackfillInput
    private let context: FeedContext
    private let budget: PersistentBackoff
    private let isAllowed: () -> Bool
    private var machine: Backfill
    weak var delegate: (any VenueBackfillDelegate)?
    private var state = State.unloaded
    /// When the pause after a failure ends, monotonic ns, and whether the service asked for it.
    private var pause: (until: Int64, isAskedFor: Bool)?
    private var allowance = LogAllowance(most: 3, interval: 600_000_000_000)

    /// Why missing trades do not come now, for people; `nil` if they do.
    private(set) var problem: String? {
        didSet { if self.problem != oldValue { self.delegate?.backfillProblemChanged() } }
    }

    /// - Parameters:
    ///   - holding: keeps the budget of requests.
    ///   - preferred: the symbol whose trades come first.
    ///   - isAllowed: whether an answer may be read now (``UpstreamPermission/isAllowed``).
    init(
        _ venue: Venue,
        source: any VenueTradesSource,
        holding: KeyHolding,
        preferred: String?,
        input: any BackfillInput,
        _ context: FeedContext,
        isAllowed: @escaping () -> Bool = { true }
    ) {
        self.isAllowed = isAllowed
        self.venue = venue
        self.source = source
        self.input = input
        self.context = context
        self.budget = PersistentBackoff(.requests(to: venue), holding, loop: context.loop)
        self.machine = Backfill(venue, addresses: source.addresses)
        self.machine.preferred = preferred
    }

    private var now: Moment {
        Moment(monotonic: Int64(self.context.loop.now.uptimeNanoseconds), wall: self.context.wallClock())
    }

    // MARK: Events

    /// Notes that trades are missing. May be called amid a read of the feed.
    func holesFound() {
        switch self.state {
        case .unloaded: self.load()
        case .resting, .waiting: self.wait(0)
        case .looking, .asking, .stopped: break
        }
    }

    /// Notes that the venue could be reached: a wait that only this program chose ends.
    func connectionOpened() {
        guard let pause, !pause.isAskedFor, case .waiting = self.state else { return }
        self.pause = nil
        self.wait(0)
    }

    /// Notes that less may be missing, because symbols are no longer wanted: then there may be no problem any more.
    func symbolsChanged() {
        guard case .waiting = self.state else { return }
        self.wait(0)
    }

    /// Notes the symbol whose trades come first; `nil` for none.
    func prefer(_ symbol: String?) { self.machine.preferred = symbol }

    /// Ends all requests; the answer to one under way is not taken.
    func stop() {
        if case .waiting(let timer) = self.state { timer.cancel() }
        self.state = .stopped
    }

    // MARK: Steps

    private func load() {
        self.state = .looking
        self.budget.load(
            isTakeover: false,
            now: self.context.wallClock,
            redact: { $0 },
            then: { [weak self] remainder in
                guard let self, case .looking = self.state else { return }
                if let remainder {
                    self.pause = (self.now.monotonic.addingCapped(remainder.wait), remainder.kind == .rateLimited)
                    if remainder.kind == .rateLimited { self.report(remainder.reason) }
                }
                self.wait(0)
            }
        )
    }

    /// Waits, and takes the next step then.
    private func wait(_ time: Int64) {
        if case .waiting(let timer) = self.state { timer.cancel() }
        let bound = NIOLoopBound(self, eventLoop: self.context.loop)
        self.state = .waiting(
            self.context.loop.scheduleTask(in: .nanoseconds(time)) {
                guard case .waiting = bound.value.state else { return }
                bound.value.advance()
            }
        )
    }

    /// Takes the next step: sends a request, or waits.
    private func advance() {
        let now = self.now
        self.giveUp(self.machine.missingChanged(self.input.missing, now: now.monotonic), now)
        // What was given up is missing no longer.
        _ = self.machine.missingChanged(self.input.missing, now: now.monotonic)
        guard !self.input.missing.isEmpty else {
            self.state = .resting
            self.problem = nil
            return
        }
        let wait = max(self.pause.map { $0.until - now.monotonic } ?? 0, self.budgetWait(now))
        guard wait <= 0 else {
            self.wait(wait)
            return
        }
        self.pause = nil
        switch self.machine.next(now: now.monotonic) {
        case .rest: self.state = .resting
        case .wait(let until): self.wait(max(until - now.monotonic, 0))
        case .ask(let request, let address):
            self.state = .looking
            self.budget.attempted(at: now.wall) { [weak self] in
                guard let self, case .looking = self.state else { return }
                self.ask(request, at: address)
            }
        }
    }

    private func budgetWait(_ now: Moment) -> Int64 {
        let wait = self.budget.budgetWait(at: now.wall)
        if wait >= Self.longWait {
            let budget = self.budget.settings.budget
            let span = budget.span / 1_000_000_000
            let time = UTCText.timeOfDay(now.wall + wait + 999_999_999)
            self.problem =
                "missing trades are requested again at \(time) UTC: \(budget.attempts) requests were made within "
                + "\(span) s, and \(self.venue.name) bans an address that makes too many"
        }
        return wait
    }

    private func ask(_ request: VenueTradesRequest, at address: Int) {
        self.state = .asking
        self.source.ask(request, at: address, on: self.context.loop) { [weak self] answer in
            guard let self, self.isAllowed(), case .asking = self.state else { return }
            self.take(answer, to: request)
            self.wait(0)
        }
    }

    // MARK: Answers

    private func take(_ answer: VenueTradesAnswer, to request: VenueTradesRequest) {
        let now = self.now
        switch answer.result {
        case .success(let body):
            let frame = VenueExchange(target: request.target, body: body).frame
            guard let trades = EarlierTrades(frame, of: self.venue) else {
                let what = "a list of trades"
                self.failed(ServiceFailure(notWhat: what, body: body, address: self.venue.serviceSetting), now)
                break
            }
            self.budget.connectionOpened()
            self.input.take(answer: frame, of: self.venue.answerDialect, now: now)
            let losses = self.machine.answered(trades, missing: self.input.missing, now: now.monotonic)
            self.giveUp(losses, now)
            self.problem = self.machine.limitation.map { "missing trades: \($0)" }
        case .failure(let failure): self.failed(failure, now)
        }
        self.obeyWeight(answer.usedWeight, now)
    }

    private func failed(_ failure: ServiceFailure, _ now: Moment) {
        let (consequence, losses) = self.machine.failed(failure, now: now.monotonic)
        self.report("\(failure)")
        switch consequence {
        case .nextStep: break
        case .backoff:
            let pause = self.budget.connectionEnded(
                tradedFor: 0,
                livedFor: nil,
                retryAfter: nil,
                chance: self.context.chance()
            )
            self.begin(pause, isAskedFor: false, "\(failure)", now)
        case .pause(let until):
            let asked = max(until.subtractingCapped(now.wall), 1_000_000_000)
            self.begin(self.budget.rateLimited(retryAfter: asked), isAskedFor: true, "\(failure)", now)
        }
        self.giveUp(losses, now)
    }

    private func begin(_ pause: ReconnectBackoff.Pause, isAskedFor: Bool, _ reason: String, _ now: Moment) {
        self.pause = (now.monotonic.addingCapped(pause.wait), isAskedFor)
        self.budget.paused(pause, at: now.wall, reason: reason)
    }

    /// Waits for a minute if other programs at this address have used up Binance's limit.
    private func obeyWeight(_ used: Int?, _ now: Moment) {
        let weight = VenueTradesRequest.weight(of: self.venue)
        guard self.pause == nil, let used, used > VenueTradesRequest.usableWeight - weight,
            used > self.budget.backoff.recentAttempts(at: now.wall) * weight
        else { return }
        let span = self.budget.settings.budget.span
        let failure = ServiceFailure.rateLimited(
            until: now.wall + span,
            "programs at this address have used \(used) of the "
                + "\(TradeID.grouped(UInt64(VenueTradesRequest.allowedWeight))) that \(self.venue.name) allows in a minute"
        )
        self.report("\(failure)")
        self.begin(self.budget.rateLimited(retryAfter: span), isAskedFor: true, "\(failure)", now)
    }

    private func report(_ reason: String) {
        self.problem = "missing trades do not come: \(reason)"
        guard self.allowance.wanted(now: self.now.monotonic) != nil else { return }
        self.context.logger.warning(
            "Missing trades do not come",
            metadata: ["venue": "\(self.venue.name)", "reason": "\(reason)"]
        )
    }

    private func giveUp(_ losses: [SymbolBackfill.Loss], _ now: Moment) {
        for loss in losses {
            self.input.giveUp(loss.ids, of: loss.symbol, reason: loss.reason, now: now)
            self.context.logger.warning(
                "Missing trades are lost for good",
                metadata: [
                    "symbol": "\(loss.symbol)", "ids": "\(TradeID.text(of: loss.ids))", "reason": "\(loss.reason)",
                ]
            )
        }
    }
}
