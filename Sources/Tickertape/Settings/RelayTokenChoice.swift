import TLS
import Relay

/// The choice among the sources of the token for the relay's clients.
///
/// The first of these counts: the file that the flags or the environment name, ``credentialName`` among the service
/// manager's credentials or in `secrets.directory`, the file that the config file names.
enum RelayTokenChoice {
    /// The name of the credential (systemd.exec(5), `LoadCredential=`).
    static let credentialName = "relay-token"

    /// Stores the token in the settings, and returns warnings.
    static func settle(_ settings: inout Settings, _ folders: SecretFolders) throws(OperatorError) -> [String] {
        let origin = settings.origin(of: .relayTokenFile)
        let isFromAbove =
            switch origin {
            case .flag, .environment: true
            case .builtIn, .file: false
            }
        if !isFromAbove, let file = folders.find(Self.credentialName) {
            let (token, hint) = try Self.read(file.path, named: file.words, status: .configuration)
            settings.relayToken = token
            settings.origins[Setting.relayTokenFile.key] = .file(file.path)
            settings.relayFiles.token = file.path
            return file.isCredential ? [] : Self.warnings(file.path, hint)
        }
        guard let path = settings.relayFiles.token else { return [] }
        let isFlag = if case .flag = origin { true } else { false }
        let name = "relay.token-file (\(origin))"
        let (token, hint) = try Self.read(path, named: name, status: isFlag ? .usage : .configuration)
        settings.relayToken = token
        return Self.warnings(path, hint)
    }

    private static func warnings(_ path: String, _ hint: String?) -> [String] {
        hint.map { ["\(path) holds the relay's token and others can read it; run \($0)"] } ?? []
    }

    private static func read(
        _ path: String,
        named name: String,
        status: ExitStatus
    ) throws(OperatorError) -> (token: Secret, hint: String?) {
        let (token, hint) = try TokenChoice.read(path, "token", named: name, status: status)
        let least = TokenGate.minimumCharacters
        guard token.reveal().utf8.count >= least else {
            throw OperatorError(
                "\(name): the token in \(path) is shorter than \(least) characters and can be guessed; make one with "
                    + "openssl rand -hex 24",
                status: status
            )
        }
        return (token, hint)
    }
}
