import TLS
import Testing
@testable import Tickertape

@Suite("The token of the relay's clients")
struct RelayTokenTests {
    private let folder = ScratchFolder()
    private static let token = "0123456789abcdef"

    private func load(
        _ yaml: String = "",
        environment: [String: String] = [:],
        flag: String? = nil
    ) throws -> LoadedSettings {
        var flags = GivenFlags()
        flags.configFile = self.folder.file("config.yaml", yaml)
        if let flag { flags.add(.relayTokenFile, [flag], flag: "--set relay.token-file") }
        return try Settings.load(flags: flags, environment: environment)
    }

    @Test(
        "it comes from the flag's file, the variable's, the service manager's credential or the config's, in this order"
    )
    func sources() throws {
        let config = self.folder.file("config-token", "config-\(Self.token)\n")
        let variable = self.folder.file("variable-token", "variable-\(Self.token)\n")
        let flag = self.folder.file("flag-token", "flag-\(Self.token)\n")
        let yaml = "relay:\n  token-file: \(config)"
        func token(_ settings: LoadedSettings) -> String? { settings.settings.relayToken?.reveal() }
        #expect(try token(self.load()) == nil)
        #expect(try token(self.load(yaml)) == "config-\(Self.token)")
        _ = self.folder.file("relay-token", "credential-\(Self.token)")
        let credentials = ["CREDENTIALS_DIRECTORY": self.folder.path]
        let byCredential = try self.load(yaml, environment: credentials)
        #expect(token(byCredential) == "credential-\(Self.token)")
        #expect(byCredential.settings.origin(of: .relayTokenFile) == .file("\(self.folder.path)/relay-token"))
        let both = credentials.merging(["TICKERTAPE_RELAY_TOKEN_FILE": variable]) { $1 }
        #expect(try token(self.load(yaml, environment: both)) == "variable-\(Self.token)")
        #expect(try token(self.load(yaml, environment: both, flag: flag)) == "flag-\(Self.token)")
        #expect(try token(self.load(yaml, environment: both, flag: "none")) == nil)
    }

    @Test("a file that is missing, empty, too short or no token is an error that does not repeat it")
    func mistakes() throws {
        for (text, words) in [
            ("", "is empty"), ("secret7890secre", "shorter than 16 characters"),
            ("secret7890secret 1", "must hold the token"),
        ] {
            let file = self.folder.file("token", text)
            let error = #expect(throws: OperatorError.self) { try self.load("relay:\n  token-file: \(file)") }
            #expect(
                error?.status == .configuration && error?.message.contains(words) == true,
                "\(error?.message ?? "")"
            )
            #expect(error?.message.contains("secret7890") == false)
            #expect(throws: OperatorError.self) { try self.load(flag: file) }
        }
        #expect(throws: OperatorError.self) { try self.load("relay:\n  token-file: /nonexistent/token") }
    }

    @Test("a file that others can read causes a warning with a hint")
    func warns() throws {
        let file = self.folder.file("token", Self.token, mode: 0o644)
        let loaded = try self.load("relay:\n  token-file: \(file)")
        #expect(loaded.warnings.contains { $0.contains("chmod 600 \(file)") && !$0.contains(Self.token) })
    }

    @Test("an address that others can reach needs it: exit status 78, and with it one warning")
    func needed() throws {
        let file = self.folder.file("token", Self.token)
        for listen in ["0.0.0.0:8080", "[::]:8080", "192.0.2.1:1", "ticker.lan:80", "127.0.0.1.evil.example:80"] {
            let open = try self.load("relay:\n  listen: '\(listen)'").settings
            let error = #expect(throws: OperatorError.self) { try open.checkRelay() }
            #expect(error?.status == .configuration && error?.message.contains("relay.token-file") == true)
            let kept = try self.load("relay:\n  listen: '\(listen)'\n  token-file: \(file)").settings
            let warnings = try kept.checkRelay()
            #expect(warnings.count == 1 && warnings[0].contains("redistribute"))
        }
        for listen in ["127.0.0.1:8080", "localhost:1", "'[::1]:1'", "'[0:0:0:0:0:0:0:1]:1'", "off"] {
            #expect(try self.load("relay:\n  listen: \(listen)").settings.checkRelay() == [])
        }
    }

    @Test("plain lines need a token and a warning beyond this machine, and a relay")
    func lines() throws {
        let file = self.folder.file("token", Self.token)
        let open = try self.load("lines:\n  listen: 0.0.0.0:7071").settings
        let error = #expect(throws: OperatorError.self) { try open.checkRelay() }
        #expect(error?.status == .configuration && error?.message.contains("relay.token-file") == true)
        let kept = try self.load("lines:\n  listen: 0.0.0.0:7071\nrelay:\n  token-file: \(file)").settings
        #expect(try kept.checkRelay().allSatisfy { $0.contains("nothing is encrypted") })
        let alone = try self.load("lines:\n  listen: 127.0.0.1:7071\nrelay:\n  listen: off").settings
        let refusal = #expect(throws: OperatorError.self) { try alone.checkRelay() }
        #expect(refusal?.message.contains("lines.listen needs the relay") == true)
        #expect(try self.load("lines:\n  listen: 127.0.0.1:7071").settings.checkRelay() == [])
    }
}
