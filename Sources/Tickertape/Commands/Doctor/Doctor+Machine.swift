import Feeds
import Glibc
import HTTP
import NIOCore
import NIOPosix
import Platform
import Relay
import Terminal
import Wire

/// The checks of this machine: the port, descriptors, the terminal, and the unit's sandbox.
extension Doctor {
    /// The unit and its socket, as the service manager knows them.
    struct Units: Sendable {
        var service: InstalledUnit?
        var socket: InstalledUnit?

        /// Whether a client of the socket would start the service.
        var isAsleep: Bool { self.socket?.isActive == true && self.service?.isActive != true }
    }

    func units() async -> Units {
        let queue = WorkQueue("doctor", threads: 2)
        async let service = self.step {
            await queue.answer(within: Self.stepLimit) { InstalledUnit.read("tickertape.service") } ?? nil
        }
        async let socket = self.step {
            await queue.answer(within: Self.stepLimit) { InstalledUnit.read("tickertape.socket") } ?? nil
        }
        return Units(service: await service ?? nil, socket: await socket ?? nil)
    }

    // MARK: Port

    /// Returns whether the relay could listen, or who listens there.
    func port(_ units: Units) async -> [DoctorCheck] {
        do throws(OperatorError) {
            _ = try self.settings.checkRelay()
        } catch {
            return [DoctorCheck("port", .failure, error.message, cure: "set relay.token-file, or 127.0.0.1")]
        }
        var checks: [DoctorCheck] = []
        if let listen = self.settings.relay.listen {
            checks.append(await self.port(listen, "relay.listen", units))
        } else if self.settings.relay.unixSocket == nil {
            checks.append(DoctorCheck("port", .note, "the relay is off: no other program gets the prices"))
        }
        if let lines = self.settings.relay.lines { checks.append(await self.port(lines, "lines.listen", units)) }
        if let path = self.settings.relay.unixSocket { checks.append(self.socketFile(path)) }
        return checks
    }

    private func port(_ endpoint: Endpoint, _ setting: String, _ units: Units) async -> DoctorCheck {
        let loop = self.loop
        let limit = self.leftAmount
        let bound = await self.step { () -> (any Error)? in
            do {
                let address = try SocketAddress.makeAddressResolvingHost(endpoint.host, port: endpoint.port)
                let channel = try await ServerBootstrap(group: loop)
                    .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                    .bind(to: address).get()
                try await channel.close()
                return nil
            } catch {
                return error
            }
        }
        guard let bound else {
            return DoctorCheck("port", .failure, "\(endpoint) was not tried in time", cure: "run doctor again")
        }
        guard let error = bound else { return DoctorCheck("port", .ok, "\(endpoint) (\(setting)) is free") }
        guard (error as? IOError)?.errnoCode == EADDRINUSE else {
            let words = "\(endpoint) (\(setting)) cannot be listened on: \(SystemErrorText.of(error))"
            return DoctorCheck("port", .failure, words, cure: Self.listeningCure((error as? IOError)?.errnoCode))
        }
        guard !units.isAsleep else {
            let words = "\(endpoint) is held by tickertape.socket, and its service does not run"
            return DoctorCheck("port", .note, words, cure: "`systemctl start tickertape` starts it")
        }
        if setting == "lines.listen", let check = await self.lineServer(endpoint) { return check }
        let settings = self.settings
        let answer = await self.step { () -> (Result<JSONTree, ServiceFailure>, isAlive: Bool)? in
            guard setting == "relay.listen", let own = settings.ownRelay,
                let relay = try? RunningRelay(own, settings, within: limit)
            else { return nil }
            let answer = await relay.ask("/v1/status")
            guard case .failure(let failure) = answer, failure.status == 401 else { return (answer, true) }
            // A relay answers this without its token.
            return (answer, await relay.text("/livez") != nil)
        }
        if case (.success(let status), _)?? = answer, let version = status["version"]?.text {
            let feed = status["status"]
            let state = feed?["state"]?.text.map { ", and says \($0)" } ?? ""
            let source = feed?["source"]?.text.flatMap { $0 == "live" ? nil : " (\($0))" } ?? ""
            let words = "\(endpoint) (\(setting)): a tickertape \(version) listens there\(state)\(source)"
            return DoctorCheck("port", .ok, words)
        }
        let place = "\(endpoint) (\(setting))"
        let other = "`ss -ltnp 'sport = :\(endpoint.port)'` names it; stop it, or set \(setting) to another port"
        guard case (.failure(let failure), let isAlive)?? = answer else {
            let silent = setting == "relay.listen" ? ", and gives no answer in time" : ""
            return DoctorCheck("port", .failure, "\(place) is used by another program\(silent)", cure: other)
        }
        if failure.status == 401, isAlive {
            return DoctorCheck("port", .warning, "\(place) is a relay's, and \(failure.reason)", cure: failure.cure)
        }
        let words = "\(place) is used by another program: \(failure.reason)"
        return DoctorCheck(
            "port",
            .failure,
            words,
            cure: [failure.cure, other].compactMap(\.self).joined(separator: "; else ")
        )
    }

    /// Returns the line about a port for lines that a running program with these settings has; `nil` if none is known.
    private func lineServer(_ endpoint: Endpoint) async -> DoctorCheck? {
        let (settings, limit) = (self.settings, self.leftAmount)
        guard let own = settings.ownRelay else { return nil }
        let place = "\(endpoint) (\(Setting.linesListen.key))"
        let answer = await self.step { () -> Result<[RunningSetting], ServiceFailure>? in
            guard let relay = try? RunningRelay(own, settings, within: limit) else { return nil }
            return await relay.settings()
        }
        switch answer {
        case .success(let running)??:
            let value = running.first { $0.key == Setting.linesListen.key }?.value
            guard value == Setting.linesListen.write(settings) else { return nil }
            return DoctorCheck("port", .ok, "\(place): the tickertape at \(own.place) listens there")
        case .failure(let failure)?? where failure.status == 403:
            let words = "\(place) is in use; the relay at \(own.place) does not say whether by its program"
            return DoctorCheck("port", .note, words)
        case .failure??, .some(nil), nil: return nil
        }
    }

    /// Returns the cure of an address that cannot be listened on.
    private static func listeningCure(_ code: Int32?) -> String {
        switch code {
        case EACCES, EPERM:
            "give it a port from 1024 on; a unit may allow a lower one with AmbientCapabilities=CAP_NET_BIND_SERVICE"
        case EAFNOSUPPORT:
            "give it an address of the other IP version, or allow this one in RestrictAddressFamilies= of the unit"
        default: "give it an address of this machine (`ip address` lists them), such as 127.0.0.1"
        }
    }

    private func socketFile(_ path: String) -> DoctorCheck {
        let folder = FilePath.folder(of: path)
        guard access(folder, W_OK) == 0 else {
            let words = "the folder of relay.unix-socket, \(folder): \(String(cString: strerror(errno)))"
            return DoctorCheck(
                "port",
                .failure,
                words,
                cure: "set relay.unix-socket to a path in a folder of this user"
            )
        }
        return DoctorCheck("port", .ok, "\(path) (relay.unix-socket) can be made")
    }

    // MARK: Process

    /// Returns whether the limit of open files suffices for the relay's clients.
    func descriptors() -> DoctorCheck {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            return DoctorCheck("descriptors", .note, "the limit of open files cannot be read")
        }
        let clients = self.settings.relay.isOff ? 0 : self.settings.relay.maximumClients
        return Self.descriptors(limit: Int(clamping: limit.rlim_max), clients: clients)
    }

    /// - Parameters:
    ///   - limit: the hard limit, up to which the program raises its own.
    ///   - clients: the setting `relay.max-clients`.
    static func descriptors(limit: Int, clients: Int) -> DoctorCheck {
        let needed = DescriptorBudget.needed(clients: clients)
        let words =
            "\(limit) open files are allowed, \(needed) are needed for \(SystemErrorText.count(clients, "client"))"
        guard limit < needed else { return DoctorCheck("descriptors", .ok, words) }
        return DoctorCheck(
            "descriptors",
            limit < DescriptorBudget.minimumOfAll ? .failure : .warning,
            words,
            cure: "raise the limit (ulimit -n \(needed); LimitNOFILE=\(needed) in a unit), or lower relay.max-clients"
        )
    }

    /// Returns what the screen would find.
    func terminal() -> DoctorCheck {
        guard isatty(STDOUT_FILENO) == 1 else {
            return DoctorCheck("terminal", .note, "standard output is no terminal, so prices come as plain lines")
        }
        let variable = self.environment.variable
        let screen = DisplaySettings(self.settings.screen) { variable($0) }
        return Self.terminal(
            size: WrappedLine.window,
            name: variable("TERM") ?? "",
            depth: screen.depth,
            hasNoColourWish: variable("NO_COLOR")?.isEmpty == false,
            isUnicode: screen.look.glyphs == .unicode
        )
    }

    /// - Parameters:
    ///   - size: columns and rows; `nil` if they are unknown.
    ///   - name: the variable `TERM`.
    ///   - hasNoColourWish: whether `NO_COLOR` is set.
    static func terminal(
        size: (columns: Int, rows: Int)?,
        name: String,
        depth: ScreenPalette.Depth,
        hasNoColourWish: Bool,
        isUnicode: Bool
    ) -> DoctorCheck {
        let colours =
            switch depth {
            case .none: hasNoColourWish ? "no colours (NO_COLOR)" : "no colours"
            case .sixteen: "16 colours"
            case .many: "256 colours"
            case .full: "24-bit colours"
            }
        let words = [
            size.map { "\($0.columns) \(isUnicode ? "×" : "x") \($0.rows)" } ?? "of unknown size",
            name.isEmpty ? "no TERM" : "TERM=\(name)", colours, isUnicode ? "Unicode" : "ASCII",
        ].joined(separator: ", ")
        if name.isEmpty || name == "dumb" {
            let cure = "set TERM to the terminal's name, such as xterm-256color"
            return DoctorCheck("terminal", .warning, "\(words); prices come as plain lines", cure: cure)
        }
        if let size, size.columns < 40 || size.rows < 10 {
            let cure = "make the window 80 columns wide and 24 lines high, so that nothing is left out"
            return DoctorCheck("terminal", .warning, words, cure: cure)
        }
        guard isUnicode || name == "linux" else {
            return DoctorCheck("terminal", .note, words, cure: "a UTF-8 locale (LC_ALL=C.UTF-8) draws finer charts")
        }
        return DoctorCheck("terminal", .ok, words)
    }

    // MARK: Sandbox

    /// Returns what the installed unit allows.
    func sandbox(_ units: Units) -> DoctorCheck {
        guard let unit = units.service else {
            let isOurs =
                self.environment.isService ? "systemd started this process" : "systemd did not start this process"
            return DoctorCheck(
                "sandbox",
                .note,
                "tickertape.service is not installed here, or cannot be asked; \(isOurs)"
            )
        }
        let recordings = unit.recordings ?? FilePath.absolute(self.settings.record.directory)
        return Self.sandbox(unit, recordings: recordings, clients: self.settings.relay.maximumClients)
    }

    static func sandbox(_ unit: InstalledUnit, recordings: String, clients: Int) -> DoctorCheck {
        let needed = DescriptorBudget.needed(clients: clients)
        let files = unit.descriptors.map { "\($0)" } ?? "any number of"
        let words =
            "tickertape.service is \(unit.activeState), ProtectSystem=\(unit.protection), \(files) open files, "
            + SystemErrorText.count(unit.restarts, "restart")
        guard unit.allowsWriting(to: recordings) else {
            let cure = "add ReadWritePaths=\(recordings) (systemctl edit tickertape), or record to its StateDirectory="
            return DoctorCheck("sandbox", .failure, "\(words); it cannot write to \(recordings)", cure: cure)
        }
        if let failure = unit.failure {
            let cure = "`journalctl -u tickertape -n 20` says why"
            return DoctorCheck("sandbox", .warning, "\(words); its last run failed: \(failure)", cure: cure)
        }
        if let limit = unit.descriptors, limit < needed {
            let cure = "set LimitNOFILE=\(needed) (systemctl edit tickertape), or lower relay.max-clients"
            return DoctorCheck("sandbox", .warning, "\(words); \(needed) are needed", cure: cure)
        }
        return DoctorCheck("sandbox", .ok, "\(words); it can write to \(recordings)")
    }
}
