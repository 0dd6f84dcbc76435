import Wire

/// One list of the service, loaded for all its readers together and kept for a time.
///
/// While the list is loaded, every reader waits for the same load. After a failure the next load waits, too, so readers
/// that ask again and again cause no calls.
actor KeptAnswer<Value: Sendable> {
    struct Kept: Sendable {
        var value: Value
        /// When the service sent it, ns since 1970.
        var fetched: Int64
        /// When a newer one is loaded, ns since 1970.
        var goodUntil: Int64
    }

    /// Loads the list.
    ///
    /// - Parameters:
    ///   - now: nanoseconds since 1970.
    ///   - older: the list until now, which is no longer good.
    typealias Load = @Sendable (_ now: Int64, _ older: Kept?) async -> Result<Kept, ServiceFailure>

    private let load: Load
    /// Nanoseconds since 1970.
    private let wallClock: @Sendable () -> Int64
    private var kept: Kept?
    private var failure: (reason: ServiceFailure, until: Int64)?
    private var loading: Task<Result<Kept, ServiceFailure>, Never>?

    init(wallClock: @escaping @Sendable () -> Int64, load: @escaping Load) {
        self.wallClock = wallClock
        self.load = load
    }

    /// Returns the list, or the reason why there is none.
    func current() async -> Result<Kept, ServiceFailure> {
        let now = self.wallClock()
        // The lower bounds keep an answer from being used for ever after the clock was set back.
        if let kept, now < kept.goodUntil, now > kept.fetched - RetryAfter.limit { return .success(kept) }
        if let failure, now < failure.until, failure.until - now <= RetryAfter.limit { return .failure(failure.reason) }
        if let loading { return await loading.value }
        let (load, older) = (self.load, self.kept)
        let loading = Task { await load(now, older) }
        self.loading = loading
        let result = await loading.value
        self.loading = nil
        switch result {
        case .success(let kept):
            self.kept = kept
            self.failure = nil
        case .failure(let failure):
            self.kept = nil
            self.failure = (failure, failure.nextCall(after: self.wallClock()))
        }
        return result
    }
}

extension ServiceFailure {
    /// The pause after a failure that states no wait, ns.
    private static let pause: Int64 = 10_000_000_000

    /// Returns when the service may be asked again, ns since 1970.
    func nextCall(after now: Int64) -> Int64 {
        if case .rateLimited(let until) = self.kind { return until }
        return now + Self.pause
    }
}
