import Feeds
import Market
import NIOConcurrencyHelpers
import Platform
import Wire

/// The checks of what the key's programs share: who holds it, its attempts, and the connection.
extension Doctor {
    /// What is known of the key's holder.
    enum Holder: Sendable {
        /// No key is used.
        case unneeded
        case free
        /// Another program holds it; `nil` until it has described itself.
        case other(KeyOwner?)
        /// A reason for people.
        case unknown(String)
    }

    /// The lock and the attempts of the key, and what they warn of.
    struct KeyFiles: Sendable {
        let storage: KeyStorage
        private let warnings: NIOLockedValueBox<[String]>

        /// May wait for a disk.
        init(_ settings: Settings.State, identity: KeyIdentity, environment: ProcessEnvironment) {
            let warnings = NIOLockedValueBox<[String]>([])
            self.warnings = warnings
            self.storage = KeyStorage(
                settings,
                identity: identity,
                environment: environment,
                warnings: Warnings(print: { text, _ in warnings.withLockedValue { $0.append(text) } })
            )
        }

        /// Returns the first warning that names a setting.
        func warning(about setting: Setting) -> String? {
            self.warnings.withLockedValue { $0.first { $0.contains("(\(setting.key))") } }
        }
    }

    /// Returns the files of the key; `nil` without a key, or if the disk does not answer.
    func keyFiles() async -> KeyFiles? {
        guard let finnhub = self.feedPlan?.finnhub else { return nil }
        let (state, environment) = (self.settings.state, self.environment)
        let disk = WorkQueue("doctor")
        return await self.step {
            await disk.answer {
                KeyFiles(
                    state,
                    identity: KeyIdentity(key: finnhub.key, upstream: finnhub.upstream),
                    environment: environment
                )
            }
        } ?? nil
    }

    /// Determines the holder of the key. A free key is taken for a moment and released.
    func holder(_ files: KeyFiles?) async -> Holder {
        guard self.feedPlan?.finnhub != nil else { return .unneeded }
        let late = "the disk of the lock does not answer (\(Setting.runtimeDirectory.key))"
        guard let files else { return .unknown(late) }
        guard let lock = files.storage.lock else { return .unknown("\(Setting.runtimeDirectory.key) is off") }
        let claim = await self.step {
            await files.storage.lockDisk.answer { () -> KeyClaim in
                let claim = lock.claim()
                if claim == .mine { lock.release() }
                return claim
            }
        }
        switch claim {
        // Without a usable folder every program takes the key.
        case .mine??: return files.warning(about: .runtimeDirectory).map { .unknown($0) } ?? .free
        case .others(let owner)??: return .other(owner)
        case .some(nil), nil: return .unknown(late)
        }
    }

    /// Returns the line about the holder of the key.
    func described(_ holder: Holder, _ units: Units) -> DoctorCheck {
        switch holder {
        case .unneeded:
            if let unknown = self.unknownKey { return DoctorCheck("owner", .note, unknown) }
            return DoctorCheck("owner", .ok, "no key is used, so none is held")
        case .free:
            let words = "no program of this user holds the key"
            guard units.service?.isActive == true else { return DoctorCheck("owner", .ok, words) }
            return DoctorCheck("owner", .note, "\(words); tickertape.service runs and has a lock of its own")
        case .unknown(let reason):
            return DoctorCheck(
                "owner",
                .warning,
                "not known: \(reason)",
                cure: "set state.runtime-directory to a folder of this user; else two programs may use the key"
            )
        case .other(nil): return DoctorCheck("owner", .note, "a program that is just starting holds the key")
        case .other(let owner?):
            let words = "the tickertape with process id \(owner.pid) holds the key"
            switch owner.relay {
            case .at(let address): return DoctorCheck("owner", .ok, "\(words), and shares it at \(address.place)")
            case .unknown: return DoctorCheck("owner", .note, "\(words), and is just starting")
            case .off:
                return DoctorCheck(
                    "owner",
                    .warning,
                    "\(words), and shares it with no other program",
                    cure: "stop it, or start it with --relay"
                )
            }
        }
    }

    /// Asks the program that holds the key; if no program of this user does, the one at `relay.listen`. `nil` without
    /// one.
    func running(_ holder: Holder, isAsleep: Bool) async -> [DoctorCheck]? {
        switch holder {
        case .other(let owner):
            let name = owner.map { "the tickertape with process id \($0.pid)" } ?? "the program that holds the key"
            guard case .at(let address)? = owner?.relay else {
                let cure = "start that program with --relay, or stop it and run doctor again"
                let words = "not tried: \(name) holds the key, and cannot be asked without a relay"
                return [DoctorCheck("upgrade", .warning, words, cure: cure)]
            }
            return await self.answers(of: name, at: address)
        case .unneeded, .free, .unknown:
            // A venue's feed has no lock, and a service as another user has one that is not seen here. A question would
            // start a service that its socket would start.
            guard !isAsleep, self.feedPlan != nil, let address = self.settings.ownRelay,
                case .success(let status)?? = await self.ask(address), status["status"]?["source"]?.text == "live"
            else { return nil }
            var checks = Self.judge(status, of: "the tickertape at \(address.place)")
            if self.feedPlan?.finnhub != nil {
                checks[0].measured += ", maybe with another key: `--connect --relay off` tries this one"
            }
            return checks
        }
    }

    private func answers(of name: String, at address: UpstreamAddress) async -> [DoctorCheck] {
        switch await self.ask(address) {
        case .success(let status)??: return Self.judge(status, of: "\(name) at \(address.place)")
        case .failure(let failure)??:
            return [
                DoctorCheck(
                    "upgrade",
                    .failure,
                    "\(name) holds the key, and its relay at \(address.place) does not answer: \(failure)",
                    cure: "does that program hang? `tickertape health` asks it; a token goes into relay.token-file"
                )
            ]
        case .some(nil), nil:
            return [
                DoctorCheck(
                    "upgrade",
                    .failure,
                    "\(name) holds the key, and its relay at \(address.place) does not answer in time",
                    cure: "does that program hang? Restart it"
                )
            ]
        }
    }

    private func ask(_ address: UpstreamAddress) async -> Result<JSONTree, ServiceFailure>?? {
        let (settings, limit) = (self.settings, self.leftAmount)
        return await self.step { () -> Result<JSONTree, ServiceFailure>? in
            guard let relay = try? RunningRelay(address, settings, within: limit) else { return nil }
            return await relay.ask("/v1/status")
        }
    }

    /// Judges the feed of a running program by its `/v1/status`.
    static func judge(_ status: JSONTree, of name: String) -> [DoctorCheck] {
        let feed = status["status"]
        let state = feed?["state"]?.text ?? "unknown"
        let reason = feed?["reason"]?.text.map { ": \($0)" } ?? ""
        let uptime = status["uptime"]?.number.map { ", up for \(Self.words(Int64($0 * 1e9)))" } ?? ""
        let words = "\(name) says \(state)\(reason)\(uptime)"
        let cure = "its log names the reason; docs/upstream.md says what each state waits for"
        let upgrade =
            switch state {
            case "live", "late", "stale", "waiting": DoctorCheck("upgrade", .ok, words)
            case "connecting": DoctorCheck("upgrade", .note, words)
            default: DoctorCheck("upgrade", .failure, words, cure: cure)
            }
        guard let age = status["newestTradeAge"]?.number else {
            return [
                upgrade,
                DoctorCheck("first-trade", .warning, "no trade yet", cure: "is the market of the symbols open?"),
            ]
        }
        let trade = "the newest trade came \(Self.words(Int64(age * 1e9))) ago"
        return [
            upgrade,
            ["live", "late"].contains(state)
                ? DoctorCheck("first-trade", .ok, trade)
                : DoctorCheck("first-trade", .warning, trade, cure: "is the market of the symbols open?"),
        ]
    }

    // MARK: Penalties

    /// Returns the line about the attempts so far, and the wait before the next one, ns.
    func penalties(_ files: KeyFiles?) async -> (check: DoctorCheck, wait: Int64) {
        func not(_ state: DoctorCheck.State, _ words: String, cure: String? = nil) -> (DoctorCheck, Int64) {
            (DoctorCheck("penalties", state, words, cure: cure), 0)
        }
        guard let finnhub = self.feedPlan?.finnhub else {
            return self.unknownKey.map { not(.note, $0) } ?? not(.ok, "no key is used, so none is left")
        }
        let late = "not known: the disk does not answer"
        let lateCure = "is the disk of state.directory alive?"
        guard let files else { return not(.warning, late, cure: lateCure) }
        guard let store = files.storage.attemptStore else {
            let reason = files.warning(about: .stateDirectory)
            let cure = "set state.directory to a folder of this user; else restarts may make Finnhub refuse the key"
            return not(.warning, "not known: \(reason ?? "\(Setting.stateDirectory.key) is off")", cure: cure)
        }
        let disk = WorkQueue("doctor")
        guard let saved = await self.step({ await disk.answer { store.load() } }) ?? nil else {
            return not(.warning, late, cure: lateCure)
        }
        guard let saved else { return not(.ok, "none is left: no attempt has failed since the last good connection") }
        return Self.penalties(saved, settings: finnhub.backoff, now: WallClock.now())
    }

    /// Judges the saved attempts.
    ///
    /// - Parameter now: wall clock, ns since 1970.
    static func penalties(
        _ saved: SavedBackoff,
        settings: ReconnectBackoff.Settings,
        now: Int64
    ) -> (check: DoctorCheck, wait: Int64) {
        let wait = saved.wait(at: now, isTakeover: false, settings: settings) ?? 0
        let since = "and \(SystemErrorText.count(saved.refusals, "refusal")) since the last good connection"
        // The attempt of a program that is connected counts until its connection is known to be good.
        guard wait > 0 else {
            let words = "none left; \(SystemErrorText.count(saved.failures, "attempt")) \(since)"
            return (DoctorCheck("penalties", .ok, words), 0)
        }
        let counts = "\(SystemErrorText.count(saved.failures, "failed attempt")) \(since)"
        let reason = saved.reason.map { " (\($0))" } ?? ""
        let seconds = (wait + 999_999_999) / 1_000_000_000
        return (
            DoctorCheck(
                "penalties",
                .warning,
                "the next attempt waits \(seconds) s\(reason); \(counts)",
                cure: "wait; the program does so by itself, and each earlier attempt would make it longer"
            ), wait
        )
    }
}
