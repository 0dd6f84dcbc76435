import Feeds
import Glibc
import HTTP
import NIOCore
import NIOPosix
import Platform
import Relay
import Terminal
import Wire

/// The checks of this machine: the port, descriptors, the terminal, disks, files, and the unit's sandbox.
extension Doctor {
    /// The free space below which a disk is worth a warning, and below which nothing can be recorded; bytes.
    private static let littleSpace: UInt64 = 1 << 30
    private static let noSpace: UInt64 = 64 << 20
    /// The time of a synced write above which a disk is worth a warning, ns.
    private static let slowWrite: Int64 = 1_000_000_000

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
            return DoctorCheck(
                "port",
                .failure,
                words,
                cure: "give it an address of this machine, and a port from 1024 on"
            )
        }
        guard !units.isAsleep else {
            let words = "\(endpoint) is held by tickertape.socket, and its service does not run"
            return DoctorCheck("port", .note, words, cure: "`systemctl start tickertape` starts it")
        }
        let settings = self.settings
        let answer = await self.step { () -> Result<JSONTree, ServiceFailure>? in
            guard setting == "relay.listen", let own = settings.ownRelay,
                let relay = try? RunningRelay(own, settings, within: limit)
            else { return nil }
            return await relay.ask("/v1/status")
        }
        if case .success(let status)?? = answer, let version = status["version"]?.text {
            let source = status["status"]?["source"]?.text.map { ", \($0)" } ?? ""
            return DoctorCheck("port", .ok, "\(endpoint) (\(setting)): a tickertape \(version) listens there\(source)")
        }
        let cure = "`ss -ltnp 'sport = :\(endpoint.port)'` names it; stop it, or set \(setting) to another port"
        return DoctorCheck("port", .failure, "\(endpoint) (\(setting)) is used by another program", cure: cure)
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
        var size = winsize()
        let isSized = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        let term = self.environment.variable("TERM") ?? ""
        let screen = DisplaySettings(self.settings.screen) { self.environment.variable($0) }
        let glyphs = screen.look.glyphs == .unicode ? "Unicode" : "ASCII"
        let words =
            "\(isSized ? "\(size.ws_col) × \(size.ws_row)" : "of unknown size"), TERM=\(term), \(screen.depth) colours, \(glyphs)"
        if term.isEmpty || term == "dumb" {
            let cure = "set TERM to the terminal's name, such as xterm-256color"
            return DoctorCheck("terminal", .warning, words, cure: cure)
        }
        guard !isSized || size.ws_col >= 40 && size.ws_row >= 10 else {
            return DoctorCheck(
                "terminal",
                .warning,
                words,
                cure: "make the window 80 × 24, so that nothing is left out"
            )
        }
        guard screen.look.glyphs == .unicode || term == "linux" else {
            return DoctorCheck("terminal", .note, words, cure: "a UTF-8 locale (LC_ALL=C.UTF-8) draws finer charts")
        }
        return DoctorCheck("terminal", .ok, words)
    }

    // MARK: Disk

    /// The folders that the program writes to, with the setting of each.
    private var folders: [(path: String, setting: String)] {
        var folders: [(String, String)] = []
        let record = self.settings.record
        let recordings = record.file.map { FilePath.folder(of: $0) } ?? record.directory
        folders.append((FilePath.absolute(recordings), record.file == nil ? "record.directory" : "record"))
        if let state = self.settings.state.directory.path(orAuto: self.environment.stateFolder) {
            folders.append((state, "state.directory"))
        }
        return folders
    }

    /// Returns how much space there is, and how fast a write is kept.
    func disks() async -> [DoctorCheck] {
        await withTaskGroup(of: (Int, DoctorCheck).self) { group in
            for (index, folder) in self.folders.enumerated() {
                group.addTask {
                    let queue = WorkQueue("doctor")
                    let check = await self.step {
                        await queue.answer(within: Self.stepLimit) { Self.disk(folder.path, folder.setting) }
                    }
                    let late = DoctorCheck(
                        "disk",
                        .failure,
                        "the disk of \(folder.path) (\(folder.setting)) does not answer",
                        cure: "is it a network disk whose server is gone? Name a folder on another disk"
                    )
                    return (index, (check ?? nil) ?? late)
                }
            }
            var checks: [(Int, DoctorCheck)] = []
            for await check in group { checks.append(check) }
            return checks.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    private static func disk(_ folder: String, _ setting: String) -> DoctorCheck {
        var facts = statvfs()
        guard statvfs(folder, &facts) == 0 else {
            if errno == ENOENT {
                return DoctorCheck("disk", .note, "\(folder) (\(setting)) does not exist yet")
            }
            let words = "\(folder) (\(setting)): \(String(cString: strerror(errno)))"
            return DoctorCheck("disk", .failure, words, cure: "name another folder with \(setting)")
        }
        let free = UInt64(facts.f_bavail) * UInt64(facts.f_frsize)
        let all = max(1, UInt64(facts.f_blocks) * UInt64(facts.f_frsize))
        let space = "\(self.bytes(free)) free (\(free * 100 / all) %) in \(folder) (\(setting))"
        let freeing = "make space, or set record.keep-size"
        if free < self.noSpace { return DoctorCheck("disk", .failure, space, cure: freeing) }
        guard let took = self.syncedWrite(folder) else {
            // The check of the rights says why.
            return DoctorCheck("disk", free < self.littleSpace ? .warning : .note, "\(space); not written to")
        }
        let words = "\(space); a synced write took \(self.words(took))"
        if free < self.littleSpace { return DoctorCheck("disk", .warning, words, cure: freeing) }
        if took > self.slowWrite {
            return DoctorCheck(
                "disk",
                .warning,
                words,
                cure: "is the disk busy? Name a folder on another with \(setting)"
            )
        }
        return DoctorCheck("disk", .ok, words)
    }

    /// Returns how long a write of one block takes until it would survive a power cut, ns; `nil` if it fails.
    private static func syncedWrite(_ folder: String) -> Int64? {
        let path = "\(folder)/.tickertape-doctor-\(getpid())"
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        // Without a name it leaves nothing behind, however this ends.
        unlink(path)
        let begun = SystemClock.monotonic()
        let block = [UInt8](repeating: 0, count: 4_096)
        guard write(descriptor, block, block.count) == block.count, fsync(descriptor) == 0 else { return nil }
        return SystemClock.monotonic() - begun
    }

    /// Formats a size as `12.3 GB`.
    static func bytes(_ bytes: UInt64) -> String {
        let units: [(UInt64, String)] = [
            (1_000_000_000_000, "TB"), (1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB"),
        ]
        guard let (size, unit) = units.first(where: { bytes >= $0.0 }) else { return "\(bytes) bytes" }
        return "\(bytes / size).\(bytes % size * 10 / size) \(unit)"
    }

    // MARK: Rights

    /// Returns whether the folders can be written, and whether only this user can read the secrets.
    ///
    /// - Parameter config: the config file.
    func rights(_ config: String?) -> DoctorCheck {
        var faults: [(state: DoctorCheck.State, words: String, cure: String)] = []
        for (path, setting) in self.folders where access(path, F_OK) == 0 && access(path, W_OK) != 0 {
            let cure =
                errno == EROFS
                ? "name \(path) in StateDirectory= or ReadWritePaths= of the unit"
                : "chown it to this user, or name another folder with \(setting)"
            faults.append((.failure, "\(path) (\(setting)): \(String(cString: strerror(errno)))", cure))
        }
        let holdsKey = self.settings.token != nil && self.settings.origin(of: "token") == config.map { .file($0) }
        let files: [(path: String?, setting: String)] = [
            (self.settings.tokenFile, "token-file"), (self.settings.relayFiles.key, "relay.key-file"),
            (self.settings.relayFiles.token, "relay.token-file"), (holdsKey ? config : nil, "the config file"),
        ]
        for (path, setting) in files {
            guard let path else { continue }
            do throws(SmallFile.Failure) {
                if let hint = try SmallFile(path: path, limit: 1 << 20)?.hintForReaders {
                    faults.append((.warning, "other users can read \(path) (\(setting))", hint))
                }
            } catch {
                faults.append((.failure, "\(path) (\(setting)) \(error.reason)", "chown it to this user, mode 600"))
            }
        }
        let state = self.settings.state.directory.path(orAuto: self.environment.stateFolder)
        if let state, access(state, F_OK) == 0 {
            do throws(PrivateFolder.Failure) {
                _ = try PrivateFolder(state)
            } catch {
                faults.append((.warning, error.reason, "chmod 700 \(state), or name another with state.directory"))
            }
        }
        guard let worst = faults.max(by: { $0.state < $1.state }) else {
            return DoctorCheck("rights", .ok, "this user can write its folders, and no other user can read its secrets")
        }
        let words = faults.map(\.words).joined(separator: "; ")
        return DoctorCheck("rights", worst.state, words, cure: faults.map(\.cure).joined(separator: "; "))
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
