import Feeds
import Market
import NIOCore
import NIOPosix
import Platform
import TLS
import Wire

/// The checks of `tickertape doctor`.
///
/// A step ends after ``stepLimit``, and none begins after ``limit``. Steps that do not depend on each other run at the
/// same time.
struct Doctor: Sendable {
    /// The longest time of one step.
    static let stepLimit = Duration.seconds(5)
    /// The time for all steps. With the start and the end of the program it is less than 20 s.
    static let limit = Duration.seconds(18)

    /// A service that the program would connect to.
    struct Target: Sendable {
        /// The service's name, for people.
        var name: String
        var upstream: UpstreamAddress
        /// The REST service of the same publisher, whose answers tell the time.
        var service: UpstreamAddress
        var setting: String
    }

    let settings: Settings
    let environment: ProcessEnvironment
    let loop: any EventLoop
    private let file: String?
    private let hasUnreadableSecret: Bool
    private let deadline: ContinuousClock.Instant
    private let plan: Result<FeedPlan, OperatorError>

    /// - Parameter hasUnreadableSecret: whether the key or the token could not be read, so that nothing is known of
    ///   them.
    init(
        _ loaded: LoadedSettings,
        hasUnreadableSecret: Bool,
        environment: ProcessEnvironment = .current,
        limit: Duration = Doctor.limit
    ) {
        self.settings = loaded.settings
        self.file = loaded.file
        self.hasUnreadableSecret = hasUnreadableSecret
        self.environment = environment
        self.loop = MultiThreadedEventLoopGroup.singleton.next()
        self.deadline = .now + limit
        let settings = loaded.settings
        self.plan = Result { () throws(OperatorError) in try FeedPlan(settings, token: settings.token) }
    }

    /// Returns the results, in the order in which they are printed.
    ///
    /// - Parameter connects: whether a connection with the key is made.
    func checks(connects: Bool) async -> [DoctorCheck] {
        async let disks = self.disks()
        let targets = self.targets
        let network = Task { await self.network(targets) }
        async let files = self.keyFiles()
        let units = await self.units()
        async let ports = self.port(units)
        let key = await files
        let holder = await self.holder(key)
        let running = await self.running(holder, isAsleep: units.isAsleep)
        let (penalties, wait) = await self.penalties(key)
        var checks = await network.value
        let isReached = !checks.contains { $0.state == .failure && $0.check != "clock" }
        checks.append(self.key)
        if let running {
            checks += running
        } else {
            checks += await self.trial(connects: connects, key, wait: wait, isReached: isReached)
        }
        checks.append(penalties)
        checks += await ports
        checks += [self.described(holder, units), self.descriptors(), self.terminal()]
        checks += await disks
        checks += [self.rights(self.file), self.sandbox(units)]
        return checks
    }

    /// The services of the settings; Finnhub's, if the settings allow none.
    private var targets: [Target] {
        let finnhub = Target(
            name: "Finnhub",
            upstream: self.settings.finnhub.upstream,
            service: self.settings.service.address,
            setting: "upstream.url"
        )
        guard let plan = try? self.plan.get() else { return [finnhub] }
        let venues = plan.venues.filter { !$0.symbols.isEmpty }.map { venue in
            Target(
                name: venue.venue.name,
                upstream: venue.upstream,
                service: self.settings.venues[venue.venue].service,
                setting: "venues.\(venue.venue.rawValue)"
            )
        }
        return (plan.finnhub == nil ? [] : [finnhub]) + venues
    }

    /// The feed plan; `nil` where the settings do not allow one.
    var feedPlan: FeedPlan? { try? self.plan.get() }

    /// Why nothing is known of the key's lock and attempts; `nil` if no key is used.
    var unknownKey: String? {
        if self.hasUnreadableSecret { return "not known, since the settings are wrong" }
        guard case .failure = self.plan, self.settings.token != nil else { return nil }
        return "not known, since the settings allow no connection"
    }

    /// The check of the key.
    private var key: DoctorCheck {
        if self.hasUnreadableSecret {
            return DoctorCheck("key", .note, "not checked, since the settings are wrong")
        }
        guard let token = self.settings.token else {
            if case .success(let plan) = self.plan, plan.finnhub == nil {
                return DoctorCheck("key", .ok, "none is needed: the symbols come from the exchanges themselves")
            }
            return DoctorCheck(
                "key",
                .warning,
                "no key is set, so the bundled recording is played",
                cure: "set FINNHUB_TOKEN or token-file (finnhub.io/register), or start with --from venue"
            )
        }
        // What is wrong with a proxy is said by the check of the proxy.
        if case .failure(let error) = self.plan, error != self.proxyFault {
            return DoctorCheck("key", .failure, error.message, cure: "correct the symbols or `from`")
        }
        let origin = self.settings.origin(of: "token")
        guard !token.isUnlikelyKey else {
            return DoctorCheck(
                "key",
                .warning,
                "set (\(origin)), with characters that Finnhub's keys do not have",
                cure: "look for a quotation mark or a placeholder in it"
            )
        }
        return DoctorCheck("key", .ok, "set (\(origin)); only a connection shows whether Finnhub accepts it")
    }

    /// The reason why the proxy on the way to Finnhub cannot be used.
    private var proxyFault: OperatorError? {
        do throws(OperatorError) {
            _ = try self.settings.proxy(for: self.settings.finnhub.upstream)
            return nil
        } catch {
            return error
        }
    }

    // MARK: Time

    /// The time that the next step may take.
    var left: Duration { max(.zero, min(Self.stepLimit, self.deadline - .now)) }

    /// Returns a step's result, or `nil` if it takes too long.
    func step<Answer: Sendable>(_ work: @escaping @Sendable () async -> Answer) async -> Answer? {
        let left = self.left
        guard left > .zero else { return nil }
        return await withTimeLimit(left, work)
    }

    /// ``left``, as an event loop counts time.
    var leftAmount: TimeAmount { .nanoseconds(max(1, Int64(self.left / .nanoseconds(1)))) }

    /// Formats a time as `12 ms`, `1.3 s`.
    static func words(_ nanoseconds: Int64) -> String {
        let milliseconds = (nanoseconds + 500_000) / 1_000_000
        guard milliseconds >= 1_000 else { return nanoseconds < 1_000_000 ? "under 1 ms" : "\(milliseconds) ms" }
        return "\(milliseconds / 1_000).\(milliseconds % 1_000 / 100) s"
    }
}
