import Glibc

/// The facts about an installed unit that the service manager tells: `systemctl show`.
struct InstalledUnit: Sendable, Equatable {
    private static let properties = [
        "LoadState", "ActiveState", "Result", "NRestarts", "ProtectSystem", "ProtectHome", "StateDirectory",
        "ReadWritePaths", "LimitNOFILE", "Environment",
    ]
    /// The variable with the folder of the recordings. No other variable of the unit is kept, since it may be a secret.
    private static let folder = Setting.recordDirectory.environment

    /// The values by property, without the unit's environment.
    private let values: [String: String]
    /// The folder of the recordings that the unit's environment names.
    let recordings: String?

    /// Reads the output of `systemctl show`.
    init(_ output: String) {
        var values: [String: String] = [:]
        var recordings: String?
        for line in output.split(separator: "\n") {
            guard let equals = line.firstIndex(of: "=") else { continue }
            let (name, value) = (line[..<equals], line[line.index(after: equals)...])
            if name == "Environment" {
                let start = "\(Self.folder)="
                recordings = value.split(separator: " ").first { $0.hasPrefix(start) }.map {
                    String($0.dropFirst(start.count))
                }
            } else {
                values[String(name)] = String(value)
            }
        }
        self.values = values
        self.recordings = recordings
    }

    /// Asks the service manager about a unit; `nil` if there is none. May wait for 3 s.
    static func read(_ name: String) -> InstalledUnit? {
        let flags = Self.properties.map { "-p \($0)" }.joined(separator: " ")
        guard let pipe = popen("LC_ALL=C exec timeout 3 systemctl show \(flags) \(name) 2>/dev/null", "re") else {
            return nil
        }
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while output.count < 64 << 10 {
            let count = fread(&buffer, 1, buffer.count, pipe)
            if count == 0 { break }
            output += buffer[..<count]
        }
        guard pclose(pipe) == 0 else { return nil }
        let unit = InstalledUnit(String(decoding: output, as: UTF8.self))
        return unit.values["LoadState"] == "loaded" ? unit : nil
    }

    var isActive: Bool { self.values["ActiveState"] == "active" }

    var activeState: String { self.values["ActiveState"] ?? "unknown" }

    /// How the last run ended; `nil` if it ended well.
    var failure: String? { self.values["Result"].flatMap { $0 == "success" ? nil : $0 } }

    var restarts: Int { self.values["NRestarts"].flatMap { Int($0) } ?? 0 }

    /// The limit of open files; `nil` for none.
    var descriptors: Int? { self.values["LimitNOFILE"].flatMap { Int($0) } }

    var protection: String { self.values["ProtectSystem"] ?? "no" }

    /// Whether the sandbox lets the service write below a folder. `strict` makes everything read-only, `full` and `yes`
    /// only the system's own folders (systemd.exec(5)).
    func allowsWriting(to folder: String) -> Bool {
        let states = (self.values["StateDirectory"] ?? "").split(separator: " ").map { "/var/lib/\($0)" }
        let paths = (self.values["ReadWritePaths"] ?? "").split(separator: " ").map { path in
            String(path.drop { "-+".contains($0) })
        }
        let isBelow = { (parent: String) in folder == parent || folder.hasPrefix(parent + "/") || parent == "/" }
        if (states + paths).contains(where: isBelow) { return true }
        if ["yes", "read-only", "tmpfs"].contains(self.values["ProtectHome"] ?? "no"),
            ["/home", "/root", "/run/user"].contains(where: isBelow)
        {
            return false
        }
        return switch self.protection {
        case "strict": false
        case "full": !["/usr", "/boot", "/efi", "/etc"].contains(where: isBelow)
        case "yes": !["/usr", "/boot", "/efi"].contains(where: isBelow)
        default: true
        }
    }
}
