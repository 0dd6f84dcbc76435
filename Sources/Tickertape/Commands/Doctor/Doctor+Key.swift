import Feeds
import Market
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

    /// Returns the lock and the attempts of the key; `nil` without a key, or if the disk does not answer.
    func keyStorage() async -> KeyStorage? {
        guard let finnhub = self.feedPlan?.finnhub else { return nil }
        let (state, environment) = (self.settings.state, self.environment)
        let disk = WorkQueue("doctor")
        return await self.step {
            await disk.answer {
                // The checks say what the warnings would.
                KeyStorage(
                    state,
                    identity: KeyIdentity(key: finnhub.key, upstream: finnhub.upstream),
                    environment: environment,
                    warnings: Warnings(print: { _, _ in })
                )
            }
        } ?? nil
    }

    /// Determines the holder of the key. A free key is taken for a moment and released.
    func holder(_ storage: KeyStorage?) async -> Holder {
        guard self.feedPlan?.finnhub != nil else { return .unneeded }
        guard let storage else { return .unknown("the disk of the lock does not answer (state.runtime-directory)") }
        guard let lock = storage.lock else { return .unknown("state.runtime-directory is off") }
        let claim = await self.step {
            await storage.lockDisk.answer { () -> KeyClaim in
                let claim = lock.claim()
                if claim == .mine { lock.release() }
                return claim
            }
        }
        switch claim {
        case .mine??: return .free
        case .others(let owner)??: return .other(owner)
        case .some(nil), nil: return .unknown("the disk of the lock does not answer (state.runtime-directory)")
        }
    }

    /// Returns the line about the holder of the key.
    func described(_ holder: Holder) -> DoctorCheck {
        switch holder {
        case .unneeded: return DoctorCheck("owner", .ok, "no key is used, so none is held")
        case .free: return DoctorCheck("owner", .ok, "no program of this user holds the key")
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

    /// Asks the program that holds the key; without a key, the one at `relay.listen`. `nil` if there is none.
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
        case .unneeded:
            // A venue's feed has no lock. A question would start a service that its socket would start.
            guard !isAsleep, self.feedPlan != nil, let address = self.settings.ownRelay,
                case .success(let status)?? = await self.ask(address), status["status"]?["source"]?.text == "live"
            else { return nil }
            return Self.judge(status, of: "the tickertape at \(address.place)")
        case .free, .unknown: return nil
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
    func penalties(_ storage: KeyStorage?) async -> (check: DoctorCheck, wait: Int64) {
        guard let finnhub = self.feedPlan?.finnhub else {
            return (DoctorCheck("penalties", .ok, "no key is used, so none is left"), 0)
        }
        guard let store = storage?.attemptStore else {
            return (
                DoctorCheck(
                    "penalties",
                    .warning,
                    "not known: attempts are not remembered over a restart",
                    cure: "set state.directory to a folder of this user; else restarts may make Finnhub refuse the key"
                ), 0
            )
        }
        let disk = WorkQueue("doctor")
        guard let saved = await self.step({ await disk.answer { store.load() } }) ?? nil else {
            let cure = "is the disk of state.directory alive?"
            return (DoctorCheck("penalties", .warning, "not known: the disk does not answer", cure: cure), 0)
        }
        guard let saved else { return (DoctorCheck("penalties", .ok, "none: the last connection was good"), 0) }
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
        let counts =
            "\(SystemErrorText.count(saved.failures, "failed attempt")) and "
            + SystemErrorText.count(saved.refusals, "refusal", "refusals") + " since the last good connection"
        guard wait > 0 else { return (DoctorCheck("penalties", .ok, "none left; \(counts)"), 0) }
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
