import Feeds

extension Settings {
    /// The address of the relay in the settings; `nil` if it is off.
    var ownRelay: UpstreamAddress? {
        if let listen = self.relay.listen {
            let isEncrypted = self.relayFiles.certificate != nil
            return UpstreamAddress(isEncrypted: isEncrypted, host: listen.fromHere.host, port: listen.port)
        }
        return self.relay.unixSocket.map { UpstreamAddress(socketPath: $0) }
    }

    /// Returns the address of a relay on the command line, or of the relay in the settings.
    ///
    /// - Parameters:
    ///   - text: the command's argument; `nil` without one.
    ///   - command: the command's name, for the message where the relay is off.
    func relayURL(_ text: String?, command: String) throws(OperatorError) -> UpstreamAddress {
        guard let text else {
            if let own = self.ownRelay { return own }
            throw OperatorError(
                "the relay is off in the settings; name one: tickertape \(command) URL",
                status: .usage
            )
        }
        let scheme = "ws+unix:"
        if text.hasPrefix(scheme) {
            // A Unix socket's path, then optionally a colon and the request's path.
            let parts = text.dropFirst(scheme.count).split(separator: ":", maxSplits: 1)
            guard let path = parts.first, !path.contains("?"),
                parts.count == 1 || parts[1] == "/" || parts[1] == "/v1/stream"
            else { throw OperatorError("the URL is not of the form ws+unix:PATH", status: .usage) }
            return UpstreamAddress(socketPath: String(path))
        }
        do throws(ParseError) {
            return try UpstreamAddress(text)
        } catch {
            throw OperatorError(
                error.echoes ? "\"\(text)\" \(error.reason)" : "the URL \(error.reason)",
                status: .usage
            )
        }
    }
}
