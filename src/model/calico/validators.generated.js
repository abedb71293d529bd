// Made by scripts/generate-validators.mjs from schemas/. Do not edit.
const validateNode = validate21;
function validate21(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (errors === 0)
    if (data && typeof data == "object" && !Array.isArray(data)) {
      if (data.kind !== void 0) {
        let data0 = data.kind;
        const _errs1 = errors;
        if (typeof data0 != "string" && data0 !== null)
          return validate21.errors = [{ instancePath: instancePath + "/kind", schemaPath: "#/properties/kind/type", keyword: "type" }], !1;
        if (errors === _errs1 && typeof data0 == "string" && data0.length > 100)
          return validate21.errors = [{ instancePath: instancePath + "/kind", schemaPath: "#/properties/kind/maxLength", keyword: "maxLength" }], !1;
        var valid0 = _errs1 === errors;
      } else
        var valid0 = !0;
      if (valid0) {
        if (data.metadata !== void 0) {
          let data1 = data.metadata;
          const _errs3 = errors;
          if (!(data1 && typeof data1 == "object" && !Array.isArray(data1)) && data1 !== null)
            return validate21.errors = [{ instancePath: instancePath + "/metadata", schemaPath: "#/properties/metadata/type", keyword: "type" }], !1;
          if (errors === _errs3 && data1 && typeof data1 == "object" && !Array.isArray(data1)) {
            if (data1.name !== void 0) {
              let data2 = data1.name;
              const _errs5 = errors;
              if (typeof data2 != "string" && data2 !== null)
                return validate21.errors = [{ instancePath: instancePath + "/metadata/name", schemaPath: "#/properties/metadata/properties/name/type", keyword: "type" }], !1;
              if (errors === _errs5 && typeof data2 == "string" && data2.length > 1e3)
                return validate21.errors = [{ instancePath: instancePath + "/metadata/name", schemaPath: "#/properties/metadata/properties/name/maxLength", keyword: "maxLength" }], !1;
              var valid1 = _errs5 === errors;
            } else
              var valid1 = !0;
            if (valid1)
              if (data1.labels !== void 0) {
                let data3 = data1.labels;
                const _errs7 = errors;
                if (!(data3 && typeof data3 == "object" && !Array.isArray(data3)) && data3 !== null)
                  return validate21.errors = [{ instancePath: instancePath + "/metadata/labels", schemaPath: "#/properties/metadata/properties/labels/type", keyword: "type" }], !1;
                if (errors === _errs7 && data3 && typeof data3 == "object" && !Array.isArray(data3))
                  for (const key0 in data3) {
                    const _errs10 = errors;
                    if (typeof data3[key0] != "string")
                      return validate21.errors = [{ instancePath: instancePath + "/metadata/labels/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "#/properties/metadata/properties/labels/additionalProperties/type", keyword: "type" }], !1;
                    var valid2 = _errs10 === errors;
                    if (!valid2)
                      break;
                  }
                var valid1 = _errs7 === errors;
              } else
                var valid1 = !0;
          }
          var valid0 = _errs3 === errors;
        } else
          var valid0 = !0;
        if (valid0) {
          if (data.spec !== void 0) {
            let data5 = data.spec;
            const _errs12 = errors;
            if (!(data5 && typeof data5 == "object" && !Array.isArray(data5)) && data5 !== null)
              return validate21.errors = [{ instancePath: instancePath + "/spec", schemaPath: "#/properties/spec/type", keyword: "type" }], !1;
            if (errors === _errs12 && data5 && typeof data5 == "object" && !Array.isArray(data5)) {
              if (data5.bgp !== void 0) {
                let data6 = data5.bgp;
                const _errs14 = errors;
                if (!(data6 && typeof data6 == "object" && !Array.isArray(data6)) && data6 !== null)
                  return validate21.errors = [{ instancePath: instancePath + "/spec/bgp", schemaPath: "#/properties/spec/properties/bgp/type", keyword: "type" }], !1;
                if (errors === _errs14 && data6 && typeof data6 == "object" && !Array.isArray(data6)) {
                  if (data6.asNumber !== void 0) {
                    let data7 = data6.asNumber;
                    const _errs16 = errors;
                    if (!(typeof data7 == "number" && !(data7 % 1) && !isNaN(data7) && isFinite(data7)) && typeof data7 != "string" && data7 !== null)
                      return validate21.errors = [{ instancePath: instancePath + "/spec/bgp/asNumber", schemaPath: "#/properties/spec/properties/bgp/properties/asNumber/type", keyword: "type" }], !1;
                    if (errors === _errs16 && typeof data7 == "string" && data7.length > 40)
                      return validate21.errors = [{ instancePath: instancePath + "/spec/bgp/asNumber", schemaPath: "#/properties/spec/properties/bgp/properties/asNumber/maxLength", keyword: "maxLength" }], !1;
                    var valid4 = _errs16 === errors;
                  } else
                    var valid4 = !0;
                  if (valid4) {
                    if (data6.ipv4Address !== void 0) {
                      let data8 = data6.ipv4Address;
                      const _errs18 = errors;
                      if (typeof data8 != "string" && data8 !== null)
                        return validate21.errors = [{ instancePath: instancePath + "/spec/bgp/ipv4Address", schemaPath: "#/properties/spec/properties/bgp/properties/ipv4Address/type", keyword: "type" }], !1;
                      if (errors === _errs18 && typeof data8 == "string" && data8.length > 100)
                        return validate21.errors = [{ instancePath: instancePath + "/spec/bgp/ipv4Address", schemaPath: "#/properties/spec/properties/bgp/properties/ipv4Address/maxLength", keyword: "maxLength" }], !1;
                      var valid4 = _errs18 === errors;
                    } else
                      var valid4 = !0;
                    if (valid4) {
                      if (data6.ipv6Address !== void 0) {
                        let data9 = data6.ipv6Address;
                        const _errs20 = errors;
                        if (typeof data9 != "string" && data9 !== null)
                          return validate21.errors = [{ instancePath: instancePath + "/spec/bgp/ipv6Address", schemaPath: "#/properties/spec/properties/bgp/properties/ipv6Address/type", keyword: "type" }], !1;
                        if (errors === _errs20 && typeof data9 == "string" && data9.length > 100)
                          return validate21.errors = [{ instancePath: instancePath + "/spec/bgp/ipv6Address", schemaPath: "#/properties/spec/properties/bgp/properties/ipv6Address/maxLength", keyword: "maxLength" }], !1;
                        var valid4 = _errs20 === errors;
                      } else
                        var valid4 = !0;
                      if (valid4)
                        if (data6.routeReflectorClusterID !== void 0) {
                          let data10 = data6.routeReflectorClusterID;
                          const _errs22 = errors;
                          if (!(typeof data10 == "number" && !(data10 % 1) && !isNaN(data10) && isFinite(data10)) && typeof data10 != "string" && data10 !== null)
                            return validate21.errors = [{ instancePath: instancePath + "/spec/bgp/routeReflectorClusterID", schemaPath: "#/properties/spec/properties/bgp/properties/routeReflectorClusterID/type", keyword: "type" }], !1;
                          if (errors === _errs22 && typeof data10 == "string" && data10.length > 40)
                            return validate21.errors = [{ instancePath: instancePath + "/spec/bgp/routeReflectorClusterID", schemaPath: "#/properties/spec/properties/bgp/properties/routeReflectorClusterID/maxLength", keyword: "maxLength" }], !1;
                          var valid4 = _errs22 === errors;
                        } else
                          var valid4 = !0;
                    }
                  }
                }
                var valid3 = _errs14 === errors;
              } else
                var valid3 = !0;
              if (valid3)
                if (data5.wireguard !== void 0) {
                  let data11 = data5.wireguard;
                  const _errs24 = errors;
                  if (!(data11 && typeof data11 == "object" && !Array.isArray(data11)) && data11 !== null)
                    return validate21.errors = [{ instancePath: instancePath + "/spec/wireguard", schemaPath: "#/properties/spec/properties/wireguard/type", keyword: "type" }], !1;
                  if (errors === _errs24 && data11 && typeof data11 == "object" && !Array.isArray(data11)) {
                    if (data11.interfaceIPv4Address !== void 0) {
                      let data12 = data11.interfaceIPv4Address;
                      const _errs26 = errors;
                      if (typeof data12 != "string" && data12 !== null)
                        return validate21.errors = [{ instancePath: instancePath + "/spec/wireguard/interfaceIPv4Address", schemaPath: "#/properties/spec/properties/wireguard/properties/interfaceIPv4Address/type", keyword: "type" }], !1;
                      if (errors === _errs26 && typeof data12 == "string" && data12.length > 100)
                        return validate21.errors = [{ instancePath: instancePath + "/spec/wireguard/interfaceIPv4Address", schemaPath: "#/properties/spec/properties/wireguard/properties/interfaceIPv4Address/maxLength", keyword: "maxLength" }], !1;
                      var valid5 = _errs26 === errors;
                    } else
                      var valid5 = !0;
                    if (valid5)
                      if (data11.interfaceIPv6Address !== void 0) {
                        let data13 = data11.interfaceIPv6Address;
                        const _errs28 = errors;
                        if (typeof data13 != "string" && data13 !== null)
                          return validate21.errors = [{ instancePath: instancePath + "/spec/wireguard/interfaceIPv6Address", schemaPath: "#/properties/spec/properties/wireguard/properties/interfaceIPv6Address/type", keyword: "type" }], !1;
                        if (errors === _errs28 && typeof data13 == "string" && data13.length > 100)
                          return validate21.errors = [{ instancePath: instancePath + "/spec/wireguard/interfaceIPv6Address", schemaPath: "#/properties/spec/properties/wireguard/properties/interfaceIPv6Address/maxLength", keyword: "maxLength" }], !1;
                        var valid5 = _errs28 === errors;
                      } else
                        var valid5 = !0;
                  }
                  var valid3 = _errs24 === errors;
                } else
                  var valid3 = !0;
            }
            var valid0 = _errs12 === errors;
          } else
            var valid0 = !0;
          if (valid0)
            if (data.status !== void 0) {
              let data14 = data.status;
              const _errs30 = errors;
              if (!(data14 && typeof data14 == "object" && !Array.isArray(data14)) && data14 !== null)
                return validate21.errors = [{ instancePath: instancePath + "/status", schemaPath: "#/properties/status/type", keyword: "type" }], !1;
              if (errors === _errs30 && data14 && typeof data14 == "object" && !Array.isArray(data14) && data14.podCIDRs !== void 0) {
                let data15 = data14.podCIDRs;
                const _errs32 = errors;
                if (!Array.isArray(data15) && data15 !== null)
                  return validate21.errors = [{ instancePath: instancePath + "/status/podCIDRs", schemaPath: "#/properties/status/properties/podCIDRs/type", keyword: "type" }], !1;
                if (errors === _errs32 && Array.isArray(data15)) {
                  var valid7 = !0;
                  const len0 = data15.length;
                  for (let i0 = 0; i0 < len0; i0++) {
                    let data16 = data15[i0];
                    const _errs34 = errors;
                    if (typeof data16 != "string" && data16 !== null)
                      return validate21.errors = [{ instancePath: instancePath + "/status/podCIDRs/" + i0, schemaPath: "#/properties/status/properties/podCIDRs/items/type", keyword: "type" }], !1;
                    if (errors === _errs34 && typeof data16 == "string" && data16.length > 100)
                      return validate21.errors = [{ instancePath: instancePath + "/status/podCIDRs/" + i0, schemaPath: "#/properties/status/properties/podCIDRs/items/maxLength", keyword: "maxLength" }], !1;
                    var valid7 = _errs34 === errors;
                    if (!valid7)
                      break;
                  }
                }
              }
              var valid0 = _errs30 === errors;
            } else
              var valid0 = !0;
        }
      }
    } else
      return validate21.errors = [{ instancePath, schemaPath: "#/type", keyword: "type" }], !1;
  return validate21.errors = vErrors, errors === 0;
}
const validateBGPConfiguration = validate22;
const pattern0 = new RegExp("^[-._a-zA-Z0-9]*$", "u"), pattern2 = new RegExp("^[!#-&(-.0-\\[\\]-~]*$", "u"), pattern3 = new RegExp("^[^\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}]*$", "u");
function validate22(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (errors === 0)
    if (data && typeof data == "object" && !Array.isArray(data)) {
      if (data.kind !== void 0) {
        let data0 = data.kind;
        const _errs1 = errors;
        if (typeof data0 != "string" && data0 !== null)
          return validate22.errors = [{ instancePath: instancePath + "/kind", schemaPath: "#/properties/kind/type", keyword: "type" }], !1;
        if (errors === _errs1 && typeof data0 == "string" && data0.length > 100)
          return validate22.errors = [{ instancePath: instancePath + "/kind", schemaPath: "#/properties/kind/maxLength", keyword: "maxLength" }], !1;
        var valid0 = _errs1 === errors;
      } else
        var valid0 = !0;
      if (valid0) {
        if (data.metadata !== void 0) {
          let data1 = data.metadata;
          const _errs3 = errors;
          if (!(data1 && typeof data1 == "object" && !Array.isArray(data1)) && data1 !== null)
            return validate22.errors = [{ instancePath: instancePath + "/metadata", schemaPath: "#/properties/metadata/type", keyword: "type" }], !1;
          if (errors === _errs3 && data1 && typeof data1 == "object" && !Array.isArray(data1)) {
            if (data1.name !== void 0) {
              let data2 = data1.name;
              const _errs5 = errors;
              if (typeof data2 != "string" && data2 !== null)
                return validate22.errors = [{ instancePath: instancePath + "/metadata/name", schemaPath: "#/properties/metadata/properties/name/type", keyword: "type" }], !1;
              if (errors === _errs5 && typeof data2 == "string" && data2.length > 1e3)
                return validate22.errors = [{ instancePath: instancePath + "/metadata/name", schemaPath: "#/properties/metadata/properties/name/maxLength", keyword: "maxLength" }], !1;
              var valid1 = _errs5 === errors;
            } else
              var valid1 = !0;
            if (valid1) {
              if (data1.namespace !== void 0) {
                let data3 = data1.namespace;
                const _errs7 = errors;
                if (typeof data3 != "string" && data3 !== null)
                  return validate22.errors = [{ instancePath: instancePath + "/metadata/namespace", schemaPath: "#/properties/metadata/properties/namespace/type", keyword: "type" }], !1;
                if (errors === _errs7 && typeof data3 == "string" && data3.length > 1e3)
                  return validate22.errors = [{ instancePath: instancePath + "/metadata/namespace", schemaPath: "#/properties/metadata/properties/namespace/maxLength", keyword: "maxLength" }], !1;
                var valid1 = _errs7 === errors;
              } else
                var valid1 = !0;
              if (valid1)
                if (data1.labels !== void 0) {
                  let data4 = data1.labels;
                  const _errs9 = errors;
                  if (!(data4 && typeof data4 == "object" && !Array.isArray(data4)) && data4 !== null)
                    return validate22.errors = [{ instancePath: instancePath + "/metadata/labels", schemaPath: "#/properties/metadata/properties/labels/type", keyword: "type" }], !1;
                  if (errors === _errs9 && data4 && typeof data4 == "object" && !Array.isArray(data4))
                    for (const key0 in data4) {
                      const _errs12 = errors;
                      if (typeof data4[key0] != "string")
                        return validate22.errors = [{ instancePath: instancePath + "/metadata/labels/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "#/properties/metadata/properties/labels/additionalProperties/type", keyword: "type" }], !1;
                      var valid2 = _errs12 === errors;
                      if (!valid2)
                        break;
                    }
                  var valid1 = _errs9 === errors;
                } else
                  var valid1 = !0;
            }
          }
          var valid0 = _errs3 === errors;
        } else
          var valid0 = !0;
        if (valid0)
          if (data.spec !== void 0) {
            let data6 = data.spec;
            const _errs14 = errors;
            if (!(data6 && typeof data6 == "object" && !Array.isArray(data6)) && data6 !== null)
              return validate22.errors = [{ instancePath: instancePath + "/spec", schemaPath: "#/properties/spec/type", keyword: "type" }], !1;
            if (errors === _errs14 && data6 && typeof data6 == "object" && !Array.isArray(data6)) {
              if (data6.logSeverityScreen !== void 0) {
                let data7 = data6.logSeverityScreen;
                const _errs16 = errors;
                if (typeof data7 != "string" && data7 !== null)
                  return validate22.errors = [{ instancePath: instancePath + "/spec/logSeverityScreen", schemaPath: "#/properties/spec/properties/logSeverityScreen/type", keyword: "type" }], !1;
                if (errors === _errs16 && typeof data7 == "string" && data7.length > 100)
                  return validate22.errors = [{ instancePath: instancePath + "/spec/logSeverityScreen", schemaPath: "#/properties/spec/properties/logSeverityScreen/maxLength", keyword: "maxLength" }], !1;
                var valid3 = _errs16 === errors;
              } else
                var valid3 = !0;
              if (valid3) {
                if (data6.nodeToNodeMeshEnabled !== void 0) {
                  let data8 = data6.nodeToNodeMeshEnabled;
                  const _errs18 = errors;
                  if (typeof data8 != "boolean" && data8 !== null)
                    return validate22.errors = [{ instancePath: instancePath + "/spec/nodeToNodeMeshEnabled", schemaPath: "#/properties/spec/properties/nodeToNodeMeshEnabled/type", keyword: "type" }], !1;
                  var valid3 = _errs18 === errors;
                } else
                  var valid3 = !0;
                if (valid3) {
                  if (data6.asNumber !== void 0) {
                    let data9 = data6.asNumber;
                    const _errs20 = errors;
                    if (!(typeof data9 == "number" && !(data9 % 1) && !isNaN(data9) && isFinite(data9)) && typeof data9 != "string" && data9 !== null)
                      return validate22.errors = [{ instancePath: instancePath + "/spec/asNumber", schemaPath: "#/properties/spec/properties/asNumber/type", keyword: "type" }], !1;
                    if (errors === _errs20 && typeof data9 == "string" && data9.length > 40)
                      return validate22.errors = [{ instancePath: instancePath + "/spec/asNumber", schemaPath: "#/properties/spec/properties/asNumber/maxLength", keyword: "maxLength" }], !1;
                    var valid3 = _errs20 === errors;
                  } else
                    var valid3 = !0;
                  if (valid3) {
                    if (data6.listenPort !== void 0) {
                      let data10 = data6.listenPort;
                      const _errs22 = errors;
                      if (!(typeof data10 == "number" && !(data10 % 1) && !isNaN(data10) && isFinite(data10)) && data10 !== null)
                        return validate22.errors = [{ instancePath: instancePath + "/spec/listenPort", schemaPath: "#/properties/spec/properties/listenPort/type", keyword: "type" }], !1;
                      if (errors === _errs22 && typeof data10 == "number" && isFinite(data10)) {
                        if (data10 > 65535 || isNaN(data10))
                          return validate22.errors = [{ instancePath: instancePath + "/spec/listenPort", schemaPath: "#/properties/spec/properties/listenPort/maximum", keyword: "maximum" }], !1;
                        if (data10 < 1 || isNaN(data10))
                          return validate22.errors = [{ instancePath: instancePath + "/spec/listenPort", schemaPath: "#/properties/spec/properties/listenPort/minimum", keyword: "minimum" }], !1;
                      }
                      var valid3 = _errs22 === errors;
                    } else
                      var valid3 = !0;
                    if (valid3) {
                      if (data6.bindMode !== void 0) {
                        let data11 = data6.bindMode;
                        const _errs24 = errors;
                        if (!(data11 === "None" || data11 === "NodeIP" || data11 === "" || data11 === null))
                          return validate22.errors = [{ instancePath: instancePath + "/spec/bindMode", schemaPath: "#/properties/spec/properties/bindMode/enum", keyword: "enum" }], !1;
                        var valid3 = _errs24 === errors;
                      } else
                        var valid3 = !0;
                      if (valid3) {
                        if (data6.nodeMeshPassword !== void 0) {
                          let data12 = data6.nodeMeshPassword;
                          const _errs25 = errors;
                          if (!(data12 && typeof data12 == "object" && !Array.isArray(data12)) && data12 !== null)
                            return validate22.errors = [{ instancePath: instancePath + "/spec/nodeMeshPassword", schemaPath: "#/properties/spec/properties/nodeMeshPassword/type", keyword: "type" }], !1;
                          if (errors === _errs25 && data12 && typeof data12 == "object" && !Array.isArray(data12) && data12.secretKeyRef !== void 0) {
                            let data13 = data12.secretKeyRef;
                            const _errs27 = errors;
                            if (!(data13 && typeof data13 == "object" && !Array.isArray(data13)) && data13 !== null)
                              return validate22.errors = [{ instancePath: instancePath + "/spec/nodeMeshPassword/secretKeyRef", schemaPath: "#/properties/spec/properties/nodeMeshPassword/properties/secretKeyRef/type", keyword: "type" }], !1;
                            if (errors === _errs27 && data13 && typeof data13 == "object" && !Array.isArray(data13)) {
                              if (data13.name !== void 0) {
                                let data14 = data13.name;
                                const _errs29 = errors;
                                if (typeof data14 != "string" && data14 !== null)
                                  return validate22.errors = [{ instancePath: instancePath + "/spec/nodeMeshPassword/secretKeyRef/name", schemaPath: "#/properties/spec/properties/nodeMeshPassword/properties/secretKeyRef/properties/name/type", keyword: "type" }], !1;
                                if (errors === _errs29 && typeof data14 == "string") {
                                  if (data14.length > 253)
                                    return validate22.errors = [{ instancePath: instancePath + "/spec/nodeMeshPassword/secretKeyRef/name", schemaPath: "#/properties/spec/properties/nodeMeshPassword/properties/secretKeyRef/properties/name/maxLength", keyword: "maxLength" }], !1;
                                  if (!pattern0.test(data14))
                                    return validate22.errors = [{ instancePath: instancePath + "/spec/nodeMeshPassword/secretKeyRef/name", schemaPath: "#/properties/spec/properties/nodeMeshPassword/properties/secretKeyRef/properties/name/pattern", keyword: "pattern" }], !1;
                                }
                                var valid5 = _errs29 === errors;
                              } else
                                var valid5 = !0;
                              if (valid5)
                                if (data13.key !== void 0) {
                                  let data15 = data13.key;
                                  const _errs31 = errors;
                                  if (typeof data15 != "string" && data15 !== null)
                                    return validate22.errors = [{ instancePath: instancePath + "/spec/nodeMeshPassword/secretKeyRef/key", schemaPath: "#/properties/spec/properties/nodeMeshPassword/properties/secretKeyRef/properties/key/type", keyword: "type" }], !1;
                                  if (errors === _errs31 && typeof data15 == "string") {
                                    if (data15.length > 253)
                                      return validate22.errors = [{ instancePath: instancePath + "/spec/nodeMeshPassword/secretKeyRef/key", schemaPath: "#/properties/spec/properties/nodeMeshPassword/properties/secretKeyRef/properties/key/maxLength", keyword: "maxLength" }], !1;
                                    if (!pattern0.test(data15))
                                      return validate22.errors = [{ instancePath: instancePath + "/spec/nodeMeshPassword/secretKeyRef/key", schemaPath: "#/properties/spec/properties/nodeMeshPassword/properties/secretKeyRef/properties/key/pattern", keyword: "pattern" }], !1;
                                  }
                                  var valid5 = _errs31 === errors;
                                } else
                                  var valid5 = !0;
                            }
                          }
                          var valid3 = _errs25 === errors;
                        } else
                          var valid3 = !0;
                        if (valid3) {
                          if (data6.nodeMeshMaxRestartTime !== void 0) {
                            let data16 = data6.nodeMeshMaxRestartTime;
                            const _errs33 = errors;
                            if (typeof data16 != "string" && data16 !== null)
                              return validate22.errors = [{ instancePath: instancePath + "/spec/nodeMeshMaxRestartTime", schemaPath: "#/properties/spec/properties/nodeMeshMaxRestartTime/type", keyword: "type" }], !1;
                            if (errors === _errs33 && typeof data16 == "string" && data16.length > 100)
                              return validate22.errors = [{ instancePath: instancePath + "/spec/nodeMeshMaxRestartTime", schemaPath: "#/properties/spec/properties/nodeMeshMaxRestartTime/maxLength", keyword: "maxLength" }], !1;
                            var valid3 = _errs33 === errors;
                          } else
                            var valid3 = !0;
                          if (valid3) {
                            if (data6.ignoredInterfaces !== void 0) {
                              let data17 = data6.ignoredInterfaces;
                              const _errs35 = errors;
                              if (!Array.isArray(data17) && data17 !== null)
                                return validate22.errors = [{ instancePath: instancePath + "/spec/ignoredInterfaces", schemaPath: "#/properties/spec/properties/ignoredInterfaces/type", keyword: "type" }], !1;
                              if (errors === _errs35 && Array.isArray(data17)) {
                                var valid6 = !0;
                                const len0 = data17.length;
                                for (let i0 = 0; i0 < len0; i0++) {
                                  let data18 = data17[i0];
                                  const _errs37 = errors;
                                  if (typeof data18 != "string" && data18 !== null)
                                    return validate22.errors = [{ instancePath: instancePath + "/spec/ignoredInterfaces/" + i0, schemaPath: "#/properties/spec/properties/ignoredInterfaces/items/type", keyword: "type" }], !1;
                                  if (errors === _errs37 && typeof data18 == "string") {
                                    if (data18.length > 255)
                                      return validate22.errors = [{ instancePath: instancePath + "/spec/ignoredInterfaces/" + i0, schemaPath: "#/properties/spec/properties/ignoredInterfaces/items/maxLength", keyword: "maxLength" }], !1;
                                    if (!pattern2.test(data18))
                                      return validate22.errors = [{ instancePath: instancePath + "/spec/ignoredInterfaces/" + i0, schemaPath: "#/properties/spec/properties/ignoredInterfaces/items/pattern", keyword: "pattern" }], !1;
                                  }
                                  var valid6 = _errs37 === errors;
                                  if (!valid6)
                                    break;
                                }
                              }
                              var valid3 = _errs35 === errors;
                            } else
                              var valid3 = !0;
                            if (valid3) {
                              if (data6.prefixAdvertisements !== void 0) {
                                let data19 = data6.prefixAdvertisements;
                                const _errs39 = errors;
                                if (!Array.isArray(data19) && data19 !== null)
                                  return validate22.errors = [{ instancePath: instancePath + "/spec/prefixAdvertisements", schemaPath: "#/properties/spec/properties/prefixAdvertisements/type", keyword: "type" }], !1;
                                if (errors === _errs39 && Array.isArray(data19)) {
                                  var valid7 = !0;
                                  const len1 = data19.length;
                                  for (let i1 = 0; i1 < len1; i1++) {
                                    let data20 = data19[i1];
                                    const _errs41 = errors;
                                    if (!(data20 && typeof data20 == "object" && !Array.isArray(data20)) && data20 !== null)
                                      return validate22.errors = [{ instancePath: instancePath + "/spec/prefixAdvertisements/" + i1, schemaPath: "#/properties/spec/properties/prefixAdvertisements/items/type", keyword: "type" }], !1;
                                    if (errors === _errs41 && data20 && typeof data20 == "object" && !Array.isArray(data20)) {
                                      if (data20.cidr !== void 0) {
                                        let data21 = data20.cidr;
                                        const _errs43 = errors;
                                        if (typeof data21 != "string" && data21 !== null)
                                          return validate22.errors = [{ instancePath: instancePath + "/spec/prefixAdvertisements/" + i1 + "/cidr", schemaPath: "#/properties/spec/properties/prefixAdvertisements/items/properties/cidr/type", keyword: "type" }], !1;
                                        if (errors === _errs43 && typeof data21 == "string" && data21.length > 100)
                                          return validate22.errors = [{ instancePath: instancePath + "/spec/prefixAdvertisements/" + i1 + "/cidr", schemaPath: "#/properties/spec/properties/prefixAdvertisements/items/properties/cidr/maxLength", keyword: "maxLength" }], !1;
                                        var valid8 = _errs43 === errors;
                                      } else
                                        var valid8 = !0;
                                      if (valid8)
                                        if (data20.communities !== void 0) {
                                          let data22 = data20.communities;
                                          const _errs45 = errors;
                                          if (!Array.isArray(data22) && data22 !== null)
                                            return validate22.errors = [{ instancePath: instancePath + "/spec/prefixAdvertisements/" + i1 + "/communities", schemaPath: "#/properties/spec/properties/prefixAdvertisements/items/properties/communities/type", keyword: "type" }], !1;
                                          if (errors === _errs45 && Array.isArray(data22)) {
                                            var valid9 = !0;
                                            const len2 = data22.length;
                                            for (let i2 = 0; i2 < len2; i2++) {
                                              let data23 = data22[i2];
                                              const _errs47 = errors;
                                              if (typeof data23 != "string" && data23 !== null)
                                                return validate22.errors = [{ instancePath: instancePath + "/spec/prefixAdvertisements/" + i1 + "/communities/" + i2, schemaPath: "#/properties/spec/properties/prefixAdvertisements/items/properties/communities/items/type", keyword: "type" }], !1;
                                              if (errors === _errs47 && typeof data23 == "string") {
                                                if (data23.length > 253)
                                                  return validate22.errors = [{ instancePath: instancePath + "/spec/prefixAdvertisements/" + i1 + "/communities/" + i2, schemaPath: "#/properties/spec/properties/prefixAdvertisements/items/properties/communities/items/maxLength", keyword: "maxLength" }], !1;
                                                if (!pattern3.test(data23))
                                                  return validate22.errors = [{ instancePath: instancePath + "/spec/prefixAdvertisements/" + i1 + "/communities/" + i2, schemaPath: "#/properties/spec/properties/prefixAdvertisements/items/properties/communities/items/pattern", keyword: "pattern", params: { pattern: "^[^\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}]*$" } }], !1;
                                              }
                                              var valid9 = _errs47 === errors;
                                              if (!valid9)
                                                break;
                                            }
                                          }
                                          var valid8 = _errs45 === errors;
                                        } else
                                          var valid8 = !0;
                                    }
                                    var valid7 = _errs41 === errors;
                                    if (!valid7)
                                      break;
                                  }
                                }
                                var valid3 = _errs39 === errors;
                              } else
                                var valid3 = !0;
                              if (valid3) {
                                if (data6.communities !== void 0) {
                                  let data24 = data6.communities;
                                  const _errs49 = errors;
                                  if (!Array.isArray(data24) && data24 !== null)
                                    return validate22.errors = [{ instancePath: instancePath + "/spec/communities", schemaPath: "#/properties/spec/properties/communities/type", keyword: "type" }], !1;
                                  if (errors === _errs49 && Array.isArray(data24)) {
                                    var valid10 = !0;
                                    const len3 = data24.length;
                                    for (let i3 = 0; i3 < len3; i3++) {
                                      let data25 = data24[i3];
                                      const _errs51 = errors;
                                      if (!(data25 && typeof data25 == "object" && !Array.isArray(data25)) && data25 !== null)
                                        return validate22.errors = [{ instancePath: instancePath + "/spec/communities/" + i3, schemaPath: "#/properties/spec/properties/communities/items/type", keyword: "type" }], !1;
                                      if (errors === _errs51 && data25 && typeof data25 == "object" && !Array.isArray(data25)) {
                                        if (data25.name !== void 0) {
                                          let data26 = data25.name;
                                          const _errs53 = errors;
                                          if (typeof data26 != "string" && data26 !== null)
                                            return validate22.errors = [{ instancePath: instancePath + "/spec/communities/" + i3 + "/name", schemaPath: "#/properties/spec/properties/communities/items/properties/name/type", keyword: "type" }], !1;
                                          if (errors === _errs53 && typeof data26 == "string") {
                                            if (data26.length > 253)
                                              return validate22.errors = [{ instancePath: instancePath + "/spec/communities/" + i3 + "/name", schemaPath: "#/properties/spec/properties/communities/items/properties/name/maxLength", keyword: "maxLength" }], !1;
                                            if (!pattern3.test(data26))
                                              return validate22.errors = [{ instancePath: instancePath + "/spec/communities/" + i3 + "/name", schemaPath: "#/properties/spec/properties/communities/items/properties/name/pattern", keyword: "pattern", params: { pattern: "^[^\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}]*$" } }], !1;
                                          }
                                          var valid11 = _errs53 === errors;
                                        } else
                                          var valid11 = !0;
                                        if (valid11)
                                          if (data25.value !== void 0) {
                                            let data27 = data25.value;
                                            const _errs55 = errors;
                                            if (typeof data27 != "string" && data27 !== null)
                                              return validate22.errors = [{ instancePath: instancePath + "/spec/communities/" + i3 + "/value", schemaPath: "#/properties/spec/properties/communities/items/properties/value/type", keyword: "type" }], !1;
                                            if (errors === _errs55 && typeof data27 == "string" && data27.length > 100)
                                              return validate22.errors = [{ instancePath: instancePath + "/spec/communities/" + i3 + "/value", schemaPath: "#/properties/spec/properties/communities/items/properties/value/maxLength", keyword: "maxLength" }], !1;
                                            var valid11 = _errs55 === errors;
                                          } else
                                            var valid11 = !0;
                                      }
                                      var valid10 = _errs51 === errors;
                                      if (!valid10)
                                        break;
                                    }
                                  }
                                  var valid3 = _errs49 === errors;
                                } else
                                  var valid3 = !0;
                                if (valid3) {
                                  if (data6.serviceClusterIPs !== void 0) {
                                    let data28 = data6.serviceClusterIPs;
                                    const _errs57 = errors;
                                    if (!Array.isArray(data28) && data28 !== null)
                                      return validate22.errors = [{ instancePath: instancePath + "/spec/serviceClusterIPs", schemaPath: "#/properties/spec/properties/serviceClusterIPs/type", keyword: "type" }], !1;
                                    if (errors === _errs57 && Array.isArray(data28)) {
                                      var valid12 = !0;
                                      const len4 = data28.length;
                                      for (let i4 = 0; i4 < len4; i4++) {
                                        let data29 = data28[i4];
                                        const _errs59 = errors;
                                        if (!(data29 && typeof data29 == "object" && !Array.isArray(data29)) && data29 !== null)
                                          return validate22.errors = [{ instancePath: instancePath + "/spec/serviceClusterIPs/" + i4, schemaPath: "#/properties/spec/properties/serviceClusterIPs/items/type", keyword: "type" }], !1;
                                        if (errors === _errs59 && data29 && typeof data29 == "object" && !Array.isArray(data29) && data29.cidr !== void 0) {
                                          let data30 = data29.cidr;
                                          const _errs61 = errors;
                                          if (typeof data30 != "string" && data30 !== null)
                                            return validate22.errors = [{ instancePath: instancePath + "/spec/serviceClusterIPs/" + i4 + "/cidr", schemaPath: "#/properties/spec/properties/serviceClusterIPs/items/properties/cidr/type", keyword: "type" }], !1;
                                          if (errors === _errs61 && typeof data30 == "string" && data30.length > 100)
                                            return validate22.errors = [{ instancePath: instancePath + "/spec/serviceClusterIPs/" + i4 + "/cidr", schemaPath: "#/properties/spec/properties/serviceClusterIPs/items/properties/cidr/maxLength", keyword: "maxLength" }], !1;
                                        }
                                        var valid12 = _errs59 === errors;
                                        if (!valid12)
                                          break;
                                      }
                                    }
                                    var valid3 = _errs57 === errors;
                                  } else
                                    var valid3 = !0;
                                  if (valid3) {
                                    if (data6.serviceExternalIPs !== void 0) {
                                      let data31 = data6.serviceExternalIPs;
                                      const _errs63 = errors;
                                      if (!Array.isArray(data31) && data31 !== null)
                                        return validate22.errors = [{ instancePath: instancePath + "/spec/serviceExternalIPs", schemaPath: "#/properties/spec/properties/serviceExternalIPs/type", keyword: "type" }], !1;
                                      if (errors === _errs63 && Array.isArray(data31)) {
                                        var valid14 = !0;
                                        const len5 = data31.length;
                                        for (let i5 = 0; i5 < len5; i5++) {
                                          let data32 = data31[i5];
                                          const _errs65 = errors;
                                          if (!(data32 && typeof data32 == "object" && !Array.isArray(data32)) && data32 !== null)
                                            return validate22.errors = [{ instancePath: instancePath + "/spec/serviceExternalIPs/" + i5, schemaPath: "#/properties/spec/properties/serviceExternalIPs/items/type", keyword: "type" }], !1;
                                          if (errors === _errs65 && data32 && typeof data32 == "object" && !Array.isArray(data32) && data32.cidr !== void 0) {
                                            let data33 = data32.cidr;
                                            const _errs67 = errors;
                                            if (typeof data33 != "string" && data33 !== null)
                                              return validate22.errors = [{ instancePath: instancePath + "/spec/serviceExternalIPs/" + i5 + "/cidr", schemaPath: "#/properties/spec/properties/serviceExternalIPs/items/properties/cidr/type", keyword: "type" }], !1;
                                            if (errors === _errs67 && typeof data33 == "string" && data33.length > 100)
                                              return validate22.errors = [{ instancePath: instancePath + "/spec/serviceExternalIPs/" + i5 + "/cidr", schemaPath: "#/properties/spec/properties/serviceExternalIPs/items/properties/cidr/maxLength", keyword: "maxLength" }], !1;
                                          }
                                          var valid14 = _errs65 === errors;
                                          if (!valid14)
                                            break;
                                        }
                                      }
                                      var valid3 = _errs63 === errors;
                                    } else
                                      var valid3 = !0;
                                    if (valid3) {
                                      if (data6.serviceLoadBalancerIPs !== void 0) {
                                        let data34 = data6.serviceLoadBalancerIPs;
                                        const _errs69 = errors;
                                        if (!Array.isArray(data34) && data34 !== null)
                                          return validate22.errors = [{ instancePath: instancePath + "/spec/serviceLoadBalancerIPs", schemaPath: "#/properties/spec/properties/serviceLoadBalancerIPs/type", keyword: "type" }], !1;
                                        if (errors === _errs69 && Array.isArray(data34)) {
                                          var valid16 = !0;
                                          const len6 = data34.length;
                                          for (let i6 = 0; i6 < len6; i6++) {
                                            let data35 = data34[i6];
                                            const _errs71 = errors;
                                            if (!(data35 && typeof data35 == "object" && !Array.isArray(data35)) && data35 !== null)
                                              return validate22.errors = [{ instancePath: instancePath + "/spec/serviceLoadBalancerIPs/" + i6, schemaPath: "#/properties/spec/properties/serviceLoadBalancerIPs/items/type", keyword: "type" }], !1;
                                            if (errors === _errs71 && data35 && typeof data35 == "object" && !Array.isArray(data35) && data35.cidr !== void 0) {
                                              let data36 = data35.cidr;
                                              const _errs73 = errors;
                                              if (typeof data36 != "string" && data36 !== null)
                                                return validate22.errors = [{ instancePath: instancePath + "/spec/serviceLoadBalancerIPs/" + i6 + "/cidr", schemaPath: "#/properties/spec/properties/serviceLoadBalancerIPs/items/properties/cidr/type", keyword: "type" }], !1;
                                              if (errors === _errs73 && typeof data36 == "string" && data36.length > 100)
                                                return validate22.errors = [{ instancePath: instancePath + "/spec/serviceLoadBalancerIPs/" + i6 + "/cidr", schemaPath: "#/properties/spec/properties/serviceLoadBalancerIPs/items/properties/cidr/maxLength", keyword: "maxLength" }], !1;
                                            }
                                            var valid16 = _errs71 === errors;
                                            if (!valid16)
                                              break;
                                          }
                                        }
                                        var valid3 = _errs69 === errors;
                                      } else
                                        var valid3 = !0;
                                      if (valid3) {
                                        if (data6.serviceLoadBalancerAggregation !== void 0) {
                                          let data37 = data6.serviceLoadBalancerAggregation;
                                          const _errs75 = errors;
                                          if (!(data37 === "Enabled" || data37 === "Disabled" || data37 === "" || data37 === null))
                                            return validate22.errors = [{ instancePath: instancePath + "/spec/serviceLoadBalancerAggregation", schemaPath: "#/properties/spec/properties/serviceLoadBalancerAggregation/enum", keyword: "enum" }], !1;
                                          var valid3 = _errs75 === errors;
                                        } else
                                          var valid3 = !0;
                                        if (valid3) {
                                          if (data6.programClusterRoutes !== void 0) {
                                            let data38 = data6.programClusterRoutes;
                                            const _errs76 = errors;
                                            if (typeof data38 != "string" && data38 !== null)
                                              return validate22.errors = [{ instancePath: instancePath + "/spec/programClusterRoutes", schemaPath: "#/properties/spec/properties/programClusterRoutes/type", keyword: "type" }], !1;
                                            if (errors === _errs76 && typeof data38 == "string" && data38.length > 100)
                                              return validate22.errors = [{ instancePath: instancePath + "/spec/programClusterRoutes", schemaPath: "#/properties/spec/properties/programClusterRoutes/maxLength", keyword: "maxLength" }], !1;
                                            var valid3 = _errs76 === errors;
                                          } else
                                            var valid3 = !0;
                                          if (valid3) {
                                            if (data6.ipv4NormalRoutePriority !== void 0) {
                                              let data39 = data6.ipv4NormalRoutePriority;
                                              const _errs78 = errors;
                                              if (!(typeof data39 == "number" && !(data39 % 1) && !isNaN(data39) && isFinite(data39)) && data39 !== null)
                                                return validate22.errors = [{ instancePath: instancePath + "/spec/ipv4NormalRoutePriority", schemaPath: "#/properties/spec/properties/ipv4NormalRoutePriority/type", keyword: "type" }], !1;
                                              if (errors === _errs78 && typeof data39 == "number" && isFinite(data39)) {
                                                if (data39 > 2147483646 || isNaN(data39))
                                                  return validate22.errors = [{ instancePath: instancePath + "/spec/ipv4NormalRoutePriority", schemaPath: "#/properties/spec/properties/ipv4NormalRoutePriority/maximum", keyword: "maximum" }], !1;
                                                if (data39 < 1 || isNaN(data39))
                                                  return validate22.errors = [{ instancePath: instancePath + "/spec/ipv4NormalRoutePriority", schemaPath: "#/properties/spec/properties/ipv4NormalRoutePriority/minimum", keyword: "minimum" }], !1;
                                              }
                                              var valid3 = _errs78 === errors;
                                            } else
                                              var valid3 = !0;
                                            if (valid3)
                                              if (data6.ipv6NormalRoutePriority !== void 0) {
                                                let data40 = data6.ipv6NormalRoutePriority;
                                                const _errs80 = errors;
                                                if (!(typeof data40 == "number" && !(data40 % 1) && !isNaN(data40) && isFinite(data40)) && data40 !== null)
                                                  return validate22.errors = [{ instancePath: instancePath + "/spec/ipv6NormalRoutePriority", schemaPath: "#/properties/spec/properties/ipv6NormalRoutePriority/type", keyword: "type" }], !1;
                                                if (errors === _errs80 && typeof data40 == "number" && isFinite(data40)) {
                                                  if (data40 > 2147483646 || isNaN(data40))
                                                    return validate22.errors = [{ instancePath: instancePath + "/spec/ipv6NormalRoutePriority", schemaPath: "#/properties/spec/properties/ipv6NormalRoutePriority/maximum", keyword: "maximum" }], !1;
                                                  if (data40 < 1 || isNaN(data40))
                                                    return validate22.errors = [{ instancePath: instancePath + "/spec/ipv6NormalRoutePriority", schemaPath: "#/properties/spec/properties/ipv6NormalRoutePriority/minimum", keyword: "minimum" }], !1;
                                                }
                                                var valid3 = _errs80 === errors;
                                              } else
                                                var valid3 = !0;
                                          }
                                        }
                                      }
                                    }
                                  }
                                }
                              }
                            }
                          }
                        }
                      }
                    }
                  }
                }
              }
            }
            var valid0 = _errs14 === errors;
          } else
            var valid0 = !0;
      }
    } else
      return validate22.errors = [{ instancePath, schemaPath: "#/type", keyword: "type" }], !1;
  return validate22.errors = vErrors, errors === 0;
}
const validateBGPPeer = validate23;
function validate23(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (errors === 0)
    if (data && typeof data == "object" && !Array.isArray(data)) {
      if (data.kind !== void 0) {
        let data0 = data.kind;
        const _errs1 = errors;
        if (typeof data0 != "string" && data0 !== null)
          return validate23.errors = [{ instancePath: instancePath + "/kind", schemaPath: "#/properties/kind/type", keyword: "type" }], !1;
        if (errors === _errs1 && typeof data0 == "string" && data0.length > 100)
          return validate23.errors = [{ instancePath: instancePath + "/kind", schemaPath: "#/properties/kind/maxLength", keyword: "maxLength" }], !1;
        var valid0 = _errs1 === errors;
      } else
        var valid0 = !0;
      if (valid0) {
        if (data.metadata !== void 0) {
          let data1 = data.metadata;
          const _errs3 = errors;
          if (!(data1 && typeof data1 == "object" && !Array.isArray(data1)) && data1 !== null)
            return validate23.errors = [{ instancePath: instancePath + "/metadata", schemaPath: "#/properties/metadata/type", keyword: "type" }], !1;
          if (errors === _errs3 && data1 && typeof data1 == "object" && !Array.isArray(data1)) {
            if (data1.name !== void 0) {
              let data2 = data1.name;
              const _errs5 = errors;
              if (typeof data2 != "string" && data2 !== null)
                return validate23.errors = [{ instancePath: instancePath + "/metadata/name", schemaPath: "#/properties/metadata/properties/name/type", keyword: "type" }], !1;
              if (errors === _errs5 && typeof data2 == "string" && data2.length > 1e3)
                return validate23.errors = [{ instancePath: instancePath + "/metadata/name", schemaPath: "#/properties/metadata/properties/name/maxLength", keyword: "maxLength" }], !1;
              var valid1 = _errs5 === errors;
            } else
              var valid1 = !0;
            if (valid1) {
              if (data1.namespace !== void 0) {
                let data3 = data1.namespace;
                const _errs7 = errors;
                if (typeof data3 != "string" && data3 !== null)
                  return validate23.errors = [{ instancePath: instancePath + "/metadata/namespace", schemaPath: "#/properties/metadata/properties/namespace/type", keyword: "type" }], !1;
                if (errors === _errs7 && typeof data3 == "string" && data3.length > 1e3)
                  return validate23.errors = [{ instancePath: instancePath + "/metadata/namespace", schemaPath: "#/properties/metadata/properties/namespace/maxLength", keyword: "maxLength" }], !1;
                var valid1 = _errs7 === errors;
              } else
                var valid1 = !0;
              if (valid1)
                if (data1.labels !== void 0) {
                  let data4 = data1.labels;
                  const _errs9 = errors;
                  if (!(data4 && typeof data4 == "object" && !Array.isArray(data4)) && data4 !== null)
                    return validate23.errors = [{ instancePath: instancePath + "/metadata/labels", schemaPath: "#/properties/metadata/properties/labels/type", keyword: "type" }], !1;
                  if (errors === _errs9 && data4 && typeof data4 == "object" && !Array.isArray(data4))
                    for (const key0 in data4) {
                      const _errs12 = errors;
                      if (typeof data4[key0] != "string")
                        return validate23.errors = [{ instancePath: instancePath + "/metadata/labels/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "#/properties/metadata/properties/labels/additionalProperties/type", keyword: "type" }], !1;
                      var valid2 = _errs12 === errors;
                      if (!valid2)
                        break;
                    }
                  var valid1 = _errs9 === errors;
                } else
                  var valid1 = !0;
            }
          }
          var valid0 = _errs3 === errors;
        } else
          var valid0 = !0;
        if (valid0)
          if (data.spec !== void 0) {
            let data6 = data.spec;
            const _errs14 = errors;
            if (!(data6 && typeof data6 == "object" && !Array.isArray(data6)) && data6 !== null)
              return validate23.errors = [{ instancePath: instancePath + "/spec", schemaPath: "#/properties/spec/type", keyword: "type" }], !1;
            if (errors === _errs14 && data6 && typeof data6 == "object" && !Array.isArray(data6)) {
              if (data6.node !== void 0) {
                let data7 = data6.node;
                const _errs16 = errors;
                if (typeof data7 != "string" && data7 !== null)
                  return validate23.errors = [{ instancePath: instancePath + "/spec/node", schemaPath: "#/properties/spec/properties/node/type", keyword: "type" }], !1;
                if (errors === _errs16 && typeof data7 == "string") {
                  if (data7.length > 253)
                    return validate23.errors = [{ instancePath: instancePath + "/spec/node", schemaPath: "#/properties/spec/properties/node/maxLength", keyword: "maxLength" }], !1;
                  if (!pattern3.test(data7))
                    return validate23.errors = [{ instancePath: instancePath + "/spec/node", schemaPath: "#/properties/spec/properties/node/pattern", keyword: "pattern", params: { pattern: "^[^\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}]*$" } }], !1;
                }
                var valid3 = _errs16 === errors;
              } else
                var valid3 = !0;
              if (valid3) {
                if (data6.nodeSelector !== void 0) {
                  let data8 = data6.nodeSelector;
                  const _errs18 = errors;
                  if (typeof data8 != "string" && data8 !== null)
                    return validate23.errors = [{ instancePath: instancePath + "/spec/nodeSelector", schemaPath: "#/properties/spec/properties/nodeSelector/type", keyword: "type" }], !1;
                  if (errors === _errs18 && typeof data8 == "string" && data8.length > 65536)
                    return validate23.errors = [{ instancePath: instancePath + "/spec/nodeSelector", schemaPath: "#/properties/spec/properties/nodeSelector/maxLength", keyword: "maxLength" }], !1;
                  var valid3 = _errs18 === errors;
                } else
                  var valid3 = !0;
                if (valid3) {
                  if (data6.peerIP !== void 0) {
                    let data9 = data6.peerIP;
                    const _errs20 = errors;
                    if (typeof data9 != "string" && data9 !== null)
                      return validate23.errors = [{ instancePath: instancePath + "/spec/peerIP", schemaPath: "#/properties/spec/properties/peerIP/type", keyword: "type" }], !1;
                    if (errors === _errs20 && typeof data9 == "string" && data9.length > 100)
                      return validate23.errors = [{ instancePath: instancePath + "/spec/peerIP", schemaPath: "#/properties/spec/properties/peerIP/maxLength", keyword: "maxLength" }], !1;
                    var valid3 = _errs20 === errors;
                  } else
                    var valid3 = !0;
                  if (valid3) {
                    if (data6.peerSelector !== void 0) {
                      let data10 = data6.peerSelector;
                      const _errs22 = errors;
                      if (typeof data10 != "string" && data10 !== null)
                        return validate23.errors = [{ instancePath: instancePath + "/spec/peerSelector", schemaPath: "#/properties/spec/properties/peerSelector/type", keyword: "type" }], !1;
                      if (errors === _errs22 && typeof data10 == "string" && data10.length > 65536)
                        return validate23.errors = [{ instancePath: instancePath + "/spec/peerSelector", schemaPath: "#/properties/spec/properties/peerSelector/maxLength", keyword: "maxLength" }], !1;
                      var valid3 = _errs22 === errors;
                    } else
                      var valid3 = !0;
                    if (valid3) {
                      if (data6.localWorkloadSelector !== void 0) {
                        let data11 = data6.localWorkloadSelector;
                        const _errs24 = errors;
                        if (typeof data11 != "string" && data11 !== null)
                          return validate23.errors = [{ instancePath: instancePath + "/spec/localWorkloadSelector", schemaPath: "#/properties/spec/properties/localWorkloadSelector/type", keyword: "type" }], !1;
                        if (errors === _errs24 && typeof data11 == "string" && data11.length > 65536)
                          return validate23.errors = [{ instancePath: instancePath + "/spec/localWorkloadSelector", schemaPath: "#/properties/spec/properties/localWorkloadSelector/maxLength", keyword: "maxLength" }], !1;
                        var valid3 = _errs24 === errors;
                      } else
                        var valid3 = !0;
                      if (valid3) {
                        if (data6.asNumber !== void 0) {
                          let data12 = data6.asNumber;
                          const _errs26 = errors;
                          if (!(typeof data12 == "number" && !(data12 % 1) && !isNaN(data12) && isFinite(data12)) && typeof data12 != "string" && data12 !== null)
                            return validate23.errors = [{ instancePath: instancePath + "/spec/asNumber", schemaPath: "#/properties/spec/properties/asNumber/type", keyword: "type" }], !1;
                          if (errors === _errs26 && typeof data12 == "string" && data12.length > 40)
                            return validate23.errors = [{ instancePath: instancePath + "/spec/asNumber", schemaPath: "#/properties/spec/properties/asNumber/maxLength", keyword: "maxLength" }], !1;
                          var valid3 = _errs26 === errors;
                        } else
                          var valid3 = !0;
                        if (valid3) {
                          if (data6.localASNumber !== void 0) {
                            let data13 = data6.localASNumber;
                            const _errs28 = errors;
                            if (!(typeof data13 == "number" && !(data13 % 1) && !isNaN(data13) && isFinite(data13)) && typeof data13 != "string" && data13 !== null)
                              return validate23.errors = [{ instancePath: instancePath + "/spec/localASNumber", schemaPath: "#/properties/spec/properties/localASNumber/type", keyword: "type" }], !1;
                            if (errors === _errs28 && typeof data13 == "string" && data13.length > 40)
                              return validate23.errors = [{ instancePath: instancePath + "/spec/localASNumber", schemaPath: "#/properties/spec/properties/localASNumber/maxLength", keyword: "maxLength" }], !1;
                            var valid3 = _errs28 === errors;
                          } else
                            var valid3 = !0;
                          if (valid3) {
                            if (data6.keepOriginalNextHop !== void 0) {
                              let data14 = data6.keepOriginalNextHop;
                              const _errs30 = errors;
                              if (typeof data14 != "boolean" && data14 !== null)
                                return validate23.errors = [{ instancePath: instancePath + "/spec/keepOriginalNextHop", schemaPath: "#/properties/spec/properties/keepOriginalNextHop/type", keyword: "type" }], !1;
                              var valid3 = _errs30 === errors;
                            } else
                              var valid3 = !0;
                            if (valid3) {
                              if (data6.nextHopMode !== void 0) {
                                let data15 = data6.nextHopMode;
                                const _errs32 = errors;
                                if (!(data15 === "Auto" || data15 === "Self" || data15 === "Keep" || data15 === "" || data15 === null))
                                  return validate23.errors = [{ instancePath: instancePath + "/spec/nextHopMode", schemaPath: "#/properties/spec/properties/nextHopMode/enum", keyword: "enum" }], !1;
                                var valid3 = _errs32 === errors;
                              } else
                                var valid3 = !0;
                              if (valid3) {
                                if (data6.password !== void 0) {
                                  let data16 = data6.password;
                                  const _errs33 = errors;
                                  if (!(data16 && typeof data16 == "object" && !Array.isArray(data16)) && data16 !== null)
                                    return validate23.errors = [{ instancePath: instancePath + "/spec/password", schemaPath: "#/properties/spec/properties/password/type", keyword: "type" }], !1;
                                  if (errors === _errs33 && data16 && typeof data16 == "object" && !Array.isArray(data16) && data16.secretKeyRef !== void 0) {
                                    let data17 = data16.secretKeyRef;
                                    const _errs35 = errors;
                                    if (!(data17 && typeof data17 == "object" && !Array.isArray(data17)) && data17 !== null)
                                      return validate23.errors = [{ instancePath: instancePath + "/spec/password/secretKeyRef", schemaPath: "#/properties/spec/properties/password/properties/secretKeyRef/type", keyword: "type" }], !1;
                                    if (errors === _errs35 && data17 && typeof data17 == "object" && !Array.isArray(data17)) {
                                      if (data17.name !== void 0) {
                                        let data18 = data17.name;
                                        const _errs37 = errors;
                                        if (typeof data18 != "string" && data18 !== null)
                                          return validate23.errors = [{ instancePath: instancePath + "/spec/password/secretKeyRef/name", schemaPath: "#/properties/spec/properties/password/properties/secretKeyRef/properties/name/type", keyword: "type" }], !1;
                                        if (errors === _errs37 && typeof data18 == "string") {
                                          if (data18.length > 253)
                                            return validate23.errors = [{ instancePath: instancePath + "/spec/password/secretKeyRef/name", schemaPath: "#/properties/spec/properties/password/properties/secretKeyRef/properties/name/maxLength", keyword: "maxLength" }], !1;
                                          if (!pattern0.test(data18))
                                            return validate23.errors = [{ instancePath: instancePath + "/spec/password/secretKeyRef/name", schemaPath: "#/properties/spec/properties/password/properties/secretKeyRef/properties/name/pattern", keyword: "pattern" }], !1;
                                        }
                                        var valid5 = _errs37 === errors;
                                      } else
                                        var valid5 = !0;
                                      if (valid5)
                                        if (data17.key !== void 0) {
                                          let data19 = data17.key;
                                          const _errs39 = errors;
                                          if (typeof data19 != "string" && data19 !== null)
                                            return validate23.errors = [{ instancePath: instancePath + "/spec/password/secretKeyRef/key", schemaPath: "#/properties/spec/properties/password/properties/secretKeyRef/properties/key/type", keyword: "type" }], !1;
                                          if (errors === _errs39 && typeof data19 == "string") {
                                            if (data19.length > 253)
                                              return validate23.errors = [{ instancePath: instancePath + "/spec/password/secretKeyRef/key", schemaPath: "#/properties/spec/properties/password/properties/secretKeyRef/properties/key/maxLength", keyword: "maxLength" }], !1;
                                            if (!pattern0.test(data19))
                                              return validate23.errors = [{ instancePath: instancePath + "/spec/password/secretKeyRef/key", schemaPath: "#/properties/spec/properties/password/properties/secretKeyRef/properties/key/pattern", keyword: "pattern" }], !1;
                                          }
                                          var valid5 = _errs39 === errors;
                                        } else
                                          var valid5 = !0;
                                    }
                                  }
                                  var valid3 = _errs33 === errors;
                                } else
                                  var valid3 = !0;
                                if (valid3) {
                                  if (data6.sourceAddress !== void 0) {
                                    let data20 = data6.sourceAddress;
                                    const _errs41 = errors;
                                    if (!(data20 === "UseNodeIP" || data20 === "None" || data20 === "" || data20 === null))
                                      return validate23.errors = [{ instancePath: instancePath + "/spec/sourceAddress", schemaPath: "#/properties/spec/properties/sourceAddress/enum", keyword: "enum" }], !1;
                                    var valid3 = _errs41 === errors;
                                  } else
                                    var valid3 = !0;
                                  if (valid3) {
                                    if (data6.maxRestartTime !== void 0) {
                                      let data21 = data6.maxRestartTime;
                                      const _errs42 = errors;
                                      if (typeof data21 != "string" && data21 !== null)
                                        return validate23.errors = [{ instancePath: instancePath + "/spec/maxRestartTime", schemaPath: "#/properties/spec/properties/maxRestartTime/type", keyword: "type" }], !1;
                                      if (errors === _errs42 && typeof data21 == "string" && data21.length > 100)
                                        return validate23.errors = [{ instancePath: instancePath + "/spec/maxRestartTime", schemaPath: "#/properties/spec/properties/maxRestartTime/maxLength", keyword: "maxLength" }], !1;
                                      var valid3 = _errs42 === errors;
                                    } else
                                      var valid3 = !0;
                                    if (valid3) {
                                      if (data6.keepaliveTime !== void 0) {
                                        let data22 = data6.keepaliveTime;
                                        const _errs44 = errors;
                                        if (typeof data22 != "string" && data22 !== null)
                                          return validate23.errors = [{ instancePath: instancePath + "/spec/keepaliveTime", schemaPath: "#/properties/spec/properties/keepaliveTime/type", keyword: "type" }], !1;
                                        if (errors === _errs44 && typeof data22 == "string" && data22.length > 100)
                                          return validate23.errors = [{ instancePath: instancePath + "/spec/keepaliveTime", schemaPath: "#/properties/spec/properties/keepaliveTime/maxLength", keyword: "maxLength" }], !1;
                                        var valid3 = _errs44 === errors;
                                      } else
                                        var valid3 = !0;
                                      if (valid3) {
                                        if (data6.numAllowedLocalASNumbers !== void 0) {
                                          let data23 = data6.numAllowedLocalASNumbers;
                                          const _errs46 = errors;
                                          if (!(typeof data23 == "number" && !(data23 % 1) && !isNaN(data23) && isFinite(data23)) && data23 !== null)
                                            return validate23.errors = [{ instancePath: instancePath + "/spec/numAllowedLocalASNumbers", schemaPath: "#/properties/spec/properties/numAllowedLocalASNumbers/type", keyword: "type" }], !1;
                                          if (errors === _errs46 && typeof data23 == "number" && isFinite(data23)) {
                                            if (data23 > 2147483647 || isNaN(data23))
                                              return validate23.errors = [{ instancePath: instancePath + "/spec/numAllowedLocalASNumbers", schemaPath: "#/properties/spec/properties/numAllowedLocalASNumbers/maximum", keyword: "maximum" }], !1;
                                            if (data23 < 0 || isNaN(data23))
                                              return validate23.errors = [{ instancePath: instancePath + "/spec/numAllowedLocalASNumbers", schemaPath: "#/properties/spec/properties/numAllowedLocalASNumbers/minimum", keyword: "minimum" }], !1;
                                          }
                                          var valid3 = _errs46 === errors;
                                        } else
                                          var valid3 = !0;
                                        if (valid3) {
                                          if (data6.ttlSecurity !== void 0) {
                                            let data24 = data6.ttlSecurity;
                                            const _errs48 = errors;
                                            if (!(typeof data24 == "number" && !(data24 % 1) && !isNaN(data24) && isFinite(data24)) && data24 !== null)
                                              return validate23.errors = [{ instancePath: instancePath + "/spec/ttlSecurity", schemaPath: "#/properties/spec/properties/ttlSecurity/type", keyword: "type" }], !1;
                                            if (errors === _errs48 && typeof data24 == "number" && isFinite(data24)) {
                                              if (data24 > 255 || isNaN(data24))
                                                return validate23.errors = [{ instancePath: instancePath + "/spec/ttlSecurity", schemaPath: "#/properties/spec/properties/ttlSecurity/maximum", keyword: "maximum" }], !1;
                                              if (data24 < 0 || isNaN(data24))
                                                return validate23.errors = [{ instancePath: instancePath + "/spec/ttlSecurity", schemaPath: "#/properties/spec/properties/ttlSecurity/minimum", keyword: "minimum" }], !1;
                                            }
                                            var valid3 = _errs48 === errors;
                                          } else
                                            var valid3 = !0;
                                          if (valid3) {
                                            if (data6.reachableBy !== void 0) {
                                              let data25 = data6.reachableBy;
                                              const _errs50 = errors;
                                              if (typeof data25 != "string" && data25 !== null)
                                                return validate23.errors = [{ instancePath: instancePath + "/spec/reachableBy", schemaPath: "#/properties/spec/properties/reachableBy/type", keyword: "type" }], !1;
                                              if (errors === _errs50 && typeof data25 == "string" && data25.length > 100)
                                                return validate23.errors = [{ instancePath: instancePath + "/spec/reachableBy", schemaPath: "#/properties/spec/properties/reachableBy/maxLength", keyword: "maxLength" }], !1;
                                              var valid3 = _errs50 === errors;
                                            } else
                                              var valid3 = !0;
                                            if (valid3) {
                                              if (data6.filters !== void 0) {
                                                let data26 = data6.filters;
                                                const _errs52 = errors;
                                                if (!Array.isArray(data26) && data26 !== null)
                                                  return validate23.errors = [{ instancePath: instancePath + "/spec/filters", schemaPath: "#/properties/spec/properties/filters/type", keyword: "type" }], !1;
                                                if (errors === _errs52 && Array.isArray(data26)) {
                                                  var valid6 = !0;
                                                  const len0 = data26.length;
                                                  for (let i0 = 0; i0 < len0; i0++) {
                                                    let data27 = data26[i0];
                                                    const _errs54 = errors;
                                                    if (typeof data27 != "string" && data27 !== null)
                                                      return validate23.errors = [{ instancePath: instancePath + "/spec/filters/" + i0, schemaPath: "#/properties/spec/properties/filters/items/type", keyword: "type" }], !1;
                                                    if (errors === _errs54 && typeof data27 == "string") {
                                                      if (data27.length > 253)
                                                        return validate23.errors = [{ instancePath: instancePath + "/spec/filters/" + i0, schemaPath: "#/properties/spec/properties/filters/items/maxLength", keyword: "maxLength" }], !1;
                                                      if (!pattern3.test(data27))
                                                        return validate23.errors = [{ instancePath: instancePath + "/spec/filters/" + i0, schemaPath: "#/properties/spec/properties/filters/items/pattern", keyword: "pattern", params: { pattern: "^[^\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}]*$" } }], !1;
                                                    }
                                                    var valid6 = _errs54 === errors;
                                                    if (!valid6)
                                                      break;
                                                  }
                                                }
                                                var valid3 = _errs52 === errors;
                                              } else
                                                var valid3 = !0;
                                              if (valid3)
                                                if (data6.reversePeering !== void 0) {
                                                  let data28 = data6.reversePeering;
                                                  const _errs56 = errors;
                                                  if (!(data28 === "Auto" || data28 === "Manual" || data28 === "" || data28 === null))
                                                    return validate23.errors = [{ instancePath: instancePath + "/spec/reversePeering", schemaPath: "#/properties/spec/properties/reversePeering/enum", keyword: "enum" }], !1;
                                                  var valid3 = _errs56 === errors;
                                                } else
                                                  var valid3 = !0;
                                            }
                                          }
                                        }
                                      }
                                    }
                                  }
                                }
                              }
                            }
                          }
                        }
                      }
                    }
                  }
                }
              }
            }
            var valid0 = _errs14 === errors;
          } else
            var valid0 = !0;
      }
    } else
      return validate23.errors = [{ instancePath, schemaPath: "#/type", keyword: "type" }], !1;
  return validate23.errors = vErrors, errors === 0;
}
const validateBGPFilter = validate24;
function validate25(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (!(data && typeof data == "object" && !Array.isArray(data)) && data !== null)
    return validate25.errors = [{ instancePath, schemaPath: "#/type", keyword: "type" }], !1;
  if (errors === 0 && data && typeof data == "object" && !Array.isArray(data)) {
    if (data.cidr !== void 0) {
      let data0 = data.cidr;
      const _errs1 = errors;
      if (typeof data0 != "string" && data0 !== null)
        return validate25.errors = [{ instancePath: instancePath + "/cidr", schemaPath: "#/properties/cidr/type", keyword: "type" }], !1;
      if (errors === _errs1 && typeof data0 == "string" && data0.length > 100)
        return validate25.errors = [{ instancePath: instancePath + "/cidr", schemaPath: "#/properties/cidr/maxLength", keyword: "maxLength" }], !1;
      var valid0 = _errs1 === errors;
    } else
      var valid0 = !0;
    if (valid0) {
      if (data.matchOperator !== void 0) {
        let data1 = data.matchOperator;
        const _errs3 = errors;
        if (!(data1 === "Equal" || data1 === "NotEqual" || data1 === "In" || data1 === "NotIn" || data1 === "" || data1 === null))
          return validate25.errors = [{ instancePath: instancePath + "/matchOperator", schemaPath: "#/properties/matchOperator/enum", keyword: "enum" }], !1;
        var valid0 = _errs3 === errors;
      } else
        var valid0 = !0;
      if (valid0) {
        if (data.prefixLength !== void 0) {
          let data2 = data.prefixLength;
          const _errs4 = errors;
          if (!(data2 && typeof data2 == "object" && !Array.isArray(data2)) && data2 !== null)
            return validate25.errors = [{ instancePath: instancePath + "/prefixLength", schemaPath: "#/properties/prefixLength/type", keyword: "type" }], !1;
          if (errors === _errs4 && data2 && typeof data2 == "object" && !Array.isArray(data2)) {
            if (data2.min !== void 0) {
              let data3 = data2.min;
              const _errs6 = errors;
              if (!(typeof data3 == "number" && !(data3 % 1) && !isNaN(data3) && isFinite(data3)) && data3 !== null)
                return validate25.errors = [{ instancePath: instancePath + "/prefixLength/min", schemaPath: "#/properties/prefixLength/properties/min/type", keyword: "type" }], !1;
              if (errors === _errs6 && typeof data3 == "number" && isFinite(data3)) {
                if (data3 > 32 || isNaN(data3))
                  return validate25.errors = [{ instancePath: instancePath + "/prefixLength/min", schemaPath: "#/properties/prefixLength/properties/min/maximum", keyword: "maximum" }], !1;
                if (data3 < 0 || isNaN(data3))
                  return validate25.errors = [{ instancePath: instancePath + "/prefixLength/min", schemaPath: "#/properties/prefixLength/properties/min/minimum", keyword: "minimum" }], !1;
              }
              var valid1 = _errs6 === errors;
            } else
              var valid1 = !0;
            if (valid1)
              if (data2.max !== void 0) {
                let data4 = data2.max;
                const _errs8 = errors;
                if (!(typeof data4 == "number" && !(data4 % 1) && !isNaN(data4) && isFinite(data4)) && data4 !== null)
                  return validate25.errors = [{ instancePath: instancePath + "/prefixLength/max", schemaPath: "#/properties/prefixLength/properties/max/type", keyword: "type" }], !1;
                if (errors === _errs8 && typeof data4 == "number" && isFinite(data4)) {
                  if (data4 > 32 || isNaN(data4))
                    return validate25.errors = [{ instancePath: instancePath + "/prefixLength/max", schemaPath: "#/properties/prefixLength/properties/max/maximum", keyword: "maximum" }], !1;
                  if (data4 < 0 || isNaN(data4))
                    return validate25.errors = [{ instancePath: instancePath + "/prefixLength/max", schemaPath: "#/properties/prefixLength/properties/max/minimum", keyword: "minimum" }], !1;
                }
                var valid1 = _errs8 === errors;
              } else
                var valid1 = !0;
          }
          var valid0 = _errs4 === errors;
        } else
          var valid0 = !0;
        if (valid0) {
          if (data.source !== void 0) {
            let data5 = data.source;
            const _errs10 = errors;
            if (!(data5 === "RemotePeers" || data5 === "" || data5 === null))
              return validate25.errors = [{ instancePath: instancePath + "/source", schemaPath: "#/properties/source/enum", keyword: "enum" }], !1;
            var valid0 = _errs10 === errors;
          } else
            var valid0 = !0;
          if (valid0) {
            if (data.interface !== void 0) {
              let data6 = data.interface;
              const _errs11 = errors;
              if (typeof data6 != "string" && data6 !== null)
                return validate25.errors = [{ instancePath: instancePath + "/interface", schemaPath: "#/properties/interface/type", keyword: "type" }], !1;
              if (errors === _errs11 && typeof data6 == "string") {
                if (data6.length > 255)
                  return validate25.errors = [{ instancePath: instancePath + "/interface", schemaPath: "#/properties/interface/maxLength", keyword: "maxLength" }], !1;
                if (!pattern2.test(data6))
                  return validate25.errors = [{ instancePath: instancePath + "/interface", schemaPath: "#/properties/interface/pattern", keyword: "pattern" }], !1;
              }
              var valid0 = _errs11 === errors;
            } else
              var valid0 = !0;
            if (valid0) {
              if (data.peerType !== void 0) {
                let data7 = data.peerType;
                const _errs13 = errors;
                if (!(data7 === "eBGP" || data7 === "iBGP" || data7 === "" || data7 === null))
                  return validate25.errors = [{ instancePath: instancePath + "/peerType", schemaPath: "#/properties/peerType/enum", keyword: "enum" }], !1;
                var valid0 = _errs13 === errors;
              } else
                var valid0 = !0;
              if (valid0) {
                if (data.communities !== void 0) {
                  let data8 = data.communities;
                  const _errs14 = errors;
                  if (!(data8 && typeof data8 == "object" && !Array.isArray(data8)) && data8 !== null)
                    return validate25.errors = [{ instancePath: instancePath + "/communities", schemaPath: "#/properties/communities/type", keyword: "type" }], !1;
                  if (errors === _errs14 && data8 && typeof data8 == "object" && !Array.isArray(data8) && data8.values !== void 0) {
                    let data9 = data8.values;
                    const _errs16 = errors;
                    if (!Array.isArray(data9) && data9 !== null)
                      return validate25.errors = [{ instancePath: instancePath + "/communities/values", schemaPath: "#/properties/communities/properties/values/type", keyword: "type" }], !1;
                    if (errors === _errs16 && Array.isArray(data9)) {
                      if (data9.length > 1)
                        return validate25.errors = [{ instancePath: instancePath + "/communities/values", schemaPath: "#/properties/communities/properties/values/maxItems", keyword: "maxItems" }], !1;
                      if (data9.length < 1)
                        return validate25.errors = [{ instancePath: instancePath + "/communities/values", schemaPath: "#/properties/communities/properties/values/minItems", keyword: "minItems" }], !1;
                      {
                        var valid3 = !0;
                        const len0 = data9.length;
                        for (let i0 = 0; i0 < len0; i0++) {
                          let data10 = data9[i0];
                          const _errs18 = errors;
                          if (typeof data10 != "string" && data10 !== null)
                            return validate25.errors = [{ instancePath: instancePath + "/communities/values/" + i0, schemaPath: "#/properties/communities/properties/values/items/type", keyword: "type" }], !1;
                          if (errors === _errs18 && typeof data10 == "string" && data10.length > 100)
                            return validate25.errors = [{ instancePath: instancePath + "/communities/values/" + i0, schemaPath: "#/properties/communities/properties/values/items/maxLength", keyword: "maxLength" }], !1;
                          var valid3 = _errs18 === errors;
                          if (!valid3)
                            break;
                        }
                      }
                    }
                  }
                  var valid0 = _errs14 === errors;
                } else
                  var valid0 = !0;
                if (valid0) {
                  if (data.asPathPrefix !== void 0) {
                    let data11 = data.asPathPrefix;
                    const _errs20 = errors;
                    if (!Array.isArray(data11) && data11 !== null)
                      return validate25.errors = [{ instancePath: instancePath + "/asPathPrefix", schemaPath: "#/properties/asPathPrefix/type", keyword: "type" }], !1;
                    if (errors === _errs20 && Array.isArray(data11)) {
                      if (data11.length > 50)
                        return validate25.errors = [{ instancePath: instancePath + "/asPathPrefix", schemaPath: "#/properties/asPathPrefix/maxItems", keyword: "maxItems" }], !1;
                      {
                        var valid4 = !0;
                        const len1 = data11.length;
                        for (let i1 = 0; i1 < len1; i1++) {
                          let data12 = data11[i1];
                          const _errs22 = errors;
                          if (!(typeof data12 == "number" && !(data12 % 1) && !isNaN(data12) && isFinite(data12)) && typeof data12 != "string" && data12 !== null)
                            return validate25.errors = [{ instancePath: instancePath + "/asPathPrefix/" + i1, schemaPath: "#/properties/asPathPrefix/items/type", keyword: "type" }], !1;
                          if (errors === _errs22 && typeof data12 == "string" && data12.length > 40)
                            return validate25.errors = [{ instancePath: instancePath + "/asPathPrefix/" + i1, schemaPath: "#/properties/asPathPrefix/items/maxLength", keyword: "maxLength" }], !1;
                          var valid4 = _errs22 === errors;
                          if (!valid4)
                            break;
                        }
                      }
                    }
                    var valid0 = _errs20 === errors;
                  } else
                    var valid0 = !0;
                  if (valid0) {
                    if (data.priority !== void 0) {
                      let data13 = data.priority;
                      const _errs24 = errors;
                      if (!(typeof data13 == "number" && !(data13 % 1) && !isNaN(data13) && isFinite(data13)) && data13 !== null)
                        return validate25.errors = [{ instancePath: instancePath + "/priority", schemaPath: "#/properties/priority/type", keyword: "type" }], !1;
                      if (errors === _errs24 && typeof data13 == "number" && isFinite(data13)) {
                        if (data13 > 2147483646 || isNaN(data13))
                          return validate25.errors = [{ instancePath: instancePath + "/priority", schemaPath: "#/properties/priority/maximum", keyword: "maximum" }], !1;
                        if (data13 < 1 || isNaN(data13))
                          return validate25.errors = [{ instancePath: instancePath + "/priority", schemaPath: "#/properties/priority/minimum", keyword: "minimum" }], !1;
                      }
                      var valid0 = _errs24 === errors;
                    } else
                      var valid0 = !0;
                    if (valid0) {
                      if (data.action !== void 0) {
                        let data14 = data.action;
                        const _errs26 = errors;
                        if (!(data14 === "Accept" || data14 === "Reject" || data14 === "" || data14 === null))
                          return validate25.errors = [{ instancePath: instancePath + "/action", schemaPath: "#/properties/action/enum", keyword: "enum" }], !1;
                        var valid0 = _errs26 === errors;
                      } else
                        var valid0 = !0;
                      if (valid0)
                        if (data.operations !== void 0) {
                          let data15 = data.operations;
                          const _errs27 = errors;
                          if (!Array.isArray(data15) && data15 !== null)
                            return validate25.errors = [{ instancePath: instancePath + "/operations", schemaPath: "#/properties/operations/type", keyword: "type" }], !1;
                          if (errors === _errs27 && Array.isArray(data15)) {
                            if (data15.length > 50)
                              return validate25.errors = [{ instancePath: instancePath + "/operations", schemaPath: "#/properties/operations/maxItems", keyword: "maxItems" }], !1;
                            {
                              var valid5 = !0;
                              const len2 = data15.length;
                              for (let i2 = 0; i2 < len2; i2++) {
                                let data16 = data15[i2];
                                const _errs29 = errors;
                                if (!(data16 && typeof data16 == "object" && !Array.isArray(data16)) && data16 !== null)
                                  return validate25.errors = [{ instancePath: instancePath + "/operations/" + i2, schemaPath: "#/properties/operations/items/type", keyword: "type" }], !1;
                                if (errors === _errs29 && data16 && typeof data16 == "object" && !Array.isArray(data16)) {
                                  if (data16.addCommunity !== void 0) {
                                    let data17 = data16.addCommunity;
                                    const _errs31 = errors;
                                    if (!(data17 && typeof data17 == "object" && !Array.isArray(data17)) && data17 !== null)
                                      return validate25.errors = [{ instancePath: instancePath + "/operations/" + i2 + "/addCommunity", schemaPath: "#/properties/operations/items/properties/addCommunity/type", keyword: "type" }], !1;
                                    if (errors === _errs31 && data17 && typeof data17 == "object" && !Array.isArray(data17) && data17.value !== void 0) {
                                      let data18 = data17.value;
                                      const _errs33 = errors;
                                      if (typeof data18 != "string" && data18 !== null)
                                        return validate25.errors = [{ instancePath: instancePath + "/operations/" + i2 + "/addCommunity/value", schemaPath: "#/properties/operations/items/properties/addCommunity/properties/value/type", keyword: "type" }], !1;
                                      if (errors === _errs33 && typeof data18 == "string" && data18.length > 100)
                                        return validate25.errors = [{ instancePath: instancePath + "/operations/" + i2 + "/addCommunity/value", schemaPath: "#/properties/operations/items/properties/addCommunity/properties/value/maxLength", keyword: "maxLength" }], !1;
                                    }
                                    var valid6 = _errs31 === errors;
                                  } else
                                    var valid6 = !0;
                                  if (valid6) {
                                    if (data16.prependASPath !== void 0) {
                                      let data19 = data16.prependASPath;
                                      const _errs35 = errors;
                                      if (!(data19 && typeof data19 == "object" && !Array.isArray(data19)) && data19 !== null)
                                        return validate25.errors = [{ instancePath: instancePath + "/operations/" + i2 + "/prependASPath", schemaPath: "#/properties/operations/items/properties/prependASPath/type", keyword: "type" }], !1;
                                      if (errors === _errs35 && data19 && typeof data19 == "object" && !Array.isArray(data19) && data19.prefix !== void 0) {
                                        let data20 = data19.prefix;
                                        const _errs37 = errors;
                                        if (!Array.isArray(data20) && data20 !== null)
                                          return validate25.errors = [{ instancePath: instancePath + "/operations/" + i2 + "/prependASPath/prefix", schemaPath: "#/properties/operations/items/properties/prependASPath/properties/prefix/type", keyword: "type" }], !1;
                                        if (errors === _errs37 && Array.isArray(data20)) {
                                          if (data20.length > 50)
                                            return validate25.errors = [{ instancePath: instancePath + "/operations/" + i2 + "/prependASPath/prefix", schemaPath: "#/properties/operations/items/properties/prependASPath/properties/prefix/maxItems", keyword: "maxItems" }], !1;
                                          if (data20.length < 1)
                                            return validate25.errors = [{ instancePath: instancePath + "/operations/" + i2 + "/prependASPath/prefix", schemaPath: "#/properties/operations/items/properties/prependASPath/properties/prefix/minItems", keyword: "minItems" }], !1;
                                          {
                                            var valid9 = !0;
                                            const len3 = data20.length;
                                            for (let i3 = 0; i3 < len3; i3++) {
                                              let data21 = data20[i3];
                                              const _errs39 = errors;
                                              if (!(typeof data21 == "number" && !(data21 % 1) && !isNaN(data21) && isFinite(data21)) && typeof data21 != "string" && data21 !== null)
                                                return validate25.errors = [{ instancePath: instancePath + "/operations/" + i2 + "/prependASPath/prefix/" + i3, schemaPath: "#/properties/operations/items/properties/prependASPath/properties/prefix/items/type", keyword: "type" }], !1;
                                              if (errors === _errs39 && typeof data21 == "string" && data21.length > 40)
                                                return validate25.errors = [{ instancePath: instancePath + "/operations/" + i2 + "/prependASPath/prefix/" + i3, schemaPath: "#/properties/operations/items/properties/prependASPath/properties/prefix/items/maxLength", keyword: "maxLength" }], !1;
                                              var valid9 = _errs39 === errors;
                                              if (!valid9)
                                                break;
                                            }
                                          }
                                        }
                                      }
                                      var valid6 = _errs35 === errors;
                                    } else
                                      var valid6 = !0;
                                    if (valid6)
                                      if (data16.setPriority !== void 0) {
                                        let data22 = data16.setPriority;
                                        const _errs41 = errors;
                                        if (!(data22 && typeof data22 == "object" && !Array.isArray(data22)) && data22 !== null)
                                          return validate25.errors = [{ instancePath: instancePath + "/operations/" + i2 + "/setPriority", schemaPath: "#/properties/operations/items/properties/setPriority/type", keyword: "type" }], !1;
                                        if (errors === _errs41 && data22 && typeof data22 == "object" && !Array.isArray(data22) && data22.value !== void 0) {
                                          let data23 = data22.value;
                                          const _errs43 = errors;
                                          if (!(typeof data23 == "number" && !(data23 % 1) && !isNaN(data23) && isFinite(data23)) && data23 !== null)
                                            return validate25.errors = [{ instancePath: instancePath + "/operations/" + i2 + "/setPriority/value", schemaPath: "#/properties/operations/items/properties/setPriority/properties/value/type", keyword: "type" }], !1;
                                          if (errors === _errs43 && typeof data23 == "number" && isFinite(data23)) {
                                            if (data23 > 2147483646 || isNaN(data23))
                                              return validate25.errors = [{ instancePath: instancePath + "/operations/" + i2 + "/setPriority/value", schemaPath: "#/properties/operations/items/properties/setPriority/properties/value/maximum", keyword: "maximum" }], !1;
                                            if (data23 < 1 || isNaN(data23))
                                              return validate25.errors = [{ instancePath: instancePath + "/operations/" + i2 + "/setPriority/value", schemaPath: "#/properties/operations/items/properties/setPriority/properties/value/minimum", keyword: "minimum" }], !1;
                                          }
                                        }
                                        var valid6 = _errs41 === errors;
                                      } else
                                        var valid6 = !0;
                                  }
                                }
                                var valid5 = _errs29 === errors;
                                if (!valid5)
                                  break;
                              }
                            }
                          }
                          var valid0 = _errs27 === errors;
                        } else
                          var valid0 = !0;
                    }
                  }
                }
              }
            }
          }
        }
      }
    }
  }
  return validate25.errors = vErrors, errors === 0;
}
function validate28(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (!(data && typeof data == "object" && !Array.isArray(data)) && data !== null)
    return validate28.errors = [{ instancePath, schemaPath: "#/type", keyword: "type" }], !1;
  if (errors === 0 && data && typeof data == "object" && !Array.isArray(data)) {
    if (data.cidr !== void 0) {
      let data0 = data.cidr;
      const _errs1 = errors;
      if (typeof data0 != "string" && data0 !== null)
        return validate28.errors = [{ instancePath: instancePath + "/cidr", schemaPath: "#/properties/cidr/type", keyword: "type" }], !1;
      if (errors === _errs1 && typeof data0 == "string" && data0.length > 100)
        return validate28.errors = [{ instancePath: instancePath + "/cidr", schemaPath: "#/properties/cidr/maxLength", keyword: "maxLength" }], !1;
      var valid0 = _errs1 === errors;
    } else
      var valid0 = !0;
    if (valid0) {
      if (data.matchOperator !== void 0) {
        let data1 = data.matchOperator;
        const _errs3 = errors;
        if (!(data1 === "Equal" || data1 === "NotEqual" || data1 === "In" || data1 === "NotIn" || data1 === "" || data1 === null))
          return validate28.errors = [{ instancePath: instancePath + "/matchOperator", schemaPath: "#/properties/matchOperator/enum", keyword: "enum" }], !1;
        var valid0 = _errs3 === errors;
      } else
        var valid0 = !0;
      if (valid0) {
        if (data.prefixLength !== void 0) {
          let data2 = data.prefixLength;
          const _errs4 = errors;
          if (!(data2 && typeof data2 == "object" && !Array.isArray(data2)) && data2 !== null)
            return validate28.errors = [{ instancePath: instancePath + "/prefixLength", schemaPath: "#/properties/prefixLength/type", keyword: "type" }], !1;
          if (errors === _errs4 && data2 && typeof data2 == "object" && !Array.isArray(data2)) {
            if (data2.min !== void 0) {
              let data3 = data2.min;
              const _errs6 = errors;
              if (!(typeof data3 == "number" && !(data3 % 1) && !isNaN(data3) && isFinite(data3)) && data3 !== null)
                return validate28.errors = [{ instancePath: instancePath + "/prefixLength/min", schemaPath: "#/properties/prefixLength/properties/min/type", keyword: "type" }], !1;
              if (errors === _errs6 && typeof data3 == "number" && isFinite(data3)) {
                if (data3 > 128 || isNaN(data3))
                  return validate28.errors = [{ instancePath: instancePath + "/prefixLength/min", schemaPath: "#/properties/prefixLength/properties/min/maximum", keyword: "maximum" }], !1;
                if (data3 < 0 || isNaN(data3))
                  return validate28.errors = [{ instancePath: instancePath + "/prefixLength/min", schemaPath: "#/properties/prefixLength/properties/min/minimum", keyword: "minimum" }], !1;
              }
              var valid1 = _errs6 === errors;
            } else
              var valid1 = !0;
            if (valid1)
              if (data2.max !== void 0) {
                let data4 = data2.max;
                const _errs8 = errors;
                if (!(typeof data4 == "number" && !(data4 % 1) && !isNaN(data4) && isFinite(data4)) && data4 !== null)
                  return validate28.errors = [{ instancePath: instancePath + "/prefixLength/max", schemaPath: "#/properties/prefixLength/properties/max/type", keyword: "type" }], !1;
                if (errors === _errs8 && typeof data4 == "number" && isFinite(data4)) {
                  if (data4 > 128 || isNaN(data4))
                    return validate28.errors = [{ instancePath: instancePath + "/prefixLength/max", schemaPath: "#/properties/prefixLength/properties/max/maximum", keyword: "maximum" }], !1;
                  if (data4 < 0 || isNaN(data4))
                    return validate28.errors = [{ instancePath: instancePath + "/prefixLength/max", schemaPath: "#/properties/prefixLength/properties/max/minimum", keyword: "minimum" }], !1;
                }
                var valid1 = _errs8 === errors;
              } else
                var valid1 = !0;
          }
          var valid0 = _errs4 === errors;
        } else
          var valid0 = !0;
        if (valid0) {
          if (data.source !== void 0) {
            let data5 = data.source;
            const _errs10 = errors;
            if (!(data5 === "RemotePeers" || data5 === "" || data5 === null))
              return validate28.errors = [{ instancePath: instancePath + "/source", schemaPath: "#/properties/source/enum", keyword: "enum" }], !1;
            var valid0 = _errs10 === errors;
          } else
            var valid0 = !0;
          if (valid0) {
            if (data.interface !== void 0) {
              let data6 = data.interface;
              const _errs11 = errors;
              if (typeof data6 != "string" && data6 !== null)
                return validate28.errors = [{ instancePath: instancePath + "/interface", schemaPath: "#/properties/interface/type", keyword: "type" }], !1;
              if (errors === _errs11 && typeof data6 == "string") {
                if (data6.length > 255)
                  return validate28.errors = [{ instancePath: instancePath + "/interface", schemaPath: "#/properties/interface/maxLength", keyword: "maxLength" }], !1;
                if (!pattern2.test(data6))
                  return validate28.errors = [{ instancePath: instancePath + "/interface", schemaPath: "#/properties/interface/pattern", keyword: "pattern" }], !1;
              }
              var valid0 = _errs11 === errors;
            } else
              var valid0 = !0;
            if (valid0) {
              if (data.peerType !== void 0) {
                let data7 = data.peerType;
                const _errs13 = errors;
                if (!(data7 === "eBGP" || data7 === "iBGP" || data7 === "" || data7 === null))
                  return validate28.errors = [{ instancePath: instancePath + "/peerType", schemaPath: "#/properties/peerType/enum", keyword: "enum" }], !1;
                var valid0 = _errs13 === errors;
              } else
                var valid0 = !0;
              if (valid0) {
                if (data.communities !== void 0) {
                  let data8 = data.communities;
                  const _errs14 = errors;
                  if (!(data8 && typeof data8 == "object" && !Array.isArray(data8)) && data8 !== null)
                    return validate28.errors = [{ instancePath: instancePath + "/communities", schemaPath: "#/properties/communities/type", keyword: "type" }], !1;
                  if (errors === _errs14 && data8 && typeof data8 == "object" && !Array.isArray(data8) && data8.values !== void 0) {
                    let data9 = data8.values;
                    const _errs16 = errors;
                    if (!Array.isArray(data9) && data9 !== null)
                      return validate28.errors = [{ instancePath: instancePath + "/communities/values", schemaPath: "#/properties/communities/properties/values/type", keyword: "type" }], !1;
                    if (errors === _errs16 && Array.isArray(data9)) {
                      if (data9.length > 1)
                        return validate28.errors = [{ instancePath: instancePath + "/communities/values", schemaPath: "#/properties/communities/properties/values/maxItems", keyword: "maxItems" }], !1;
                      if (data9.length < 1)
                        return validate28.errors = [{ instancePath: instancePath + "/communities/values", schemaPath: "#/properties/communities/properties/values/minItems", keyword: "minItems" }], !1;
                      {
                        var valid3 = !0;
                        const len0 = data9.length;
                        for (let i0 = 0; i0 < len0; i0++) {
                          let data10 = data9[i0];
                          const _errs18 = errors;
                          if (typeof data10 != "string" && data10 !== null)
                            return validate28.errors = [{ instancePath: instancePath + "/communities/values/" + i0, schemaPath: "#/properties/communities/properties/values/items/type", keyword: "type" }], !1;
                          if (errors === _errs18 && typeof data10 == "string" && data10.length > 100)
                            return validate28.errors = [{ instancePath: instancePath + "/communities/values/" + i0, schemaPath: "#/properties/communities/properties/values/items/maxLength", keyword: "maxLength" }], !1;
                          var valid3 = _errs18 === errors;
                          if (!valid3)
                            break;
                        }
                      }
                    }
                  }
                  var valid0 = _errs14 === errors;
                } else
                  var valid0 = !0;
                if (valid0) {
                  if (data.asPathPrefix !== void 0) {
                    let data11 = data.asPathPrefix;
                    const _errs20 = errors;
                    if (!Array.isArray(data11) && data11 !== null)
                      return validate28.errors = [{ instancePath: instancePath + "/asPathPrefix", schemaPath: "#/properties/asPathPrefix/type", keyword: "type" }], !1;
                    if (errors === _errs20 && Array.isArray(data11)) {
                      if (data11.length > 50)
                        return validate28.errors = [{ instancePath: instancePath + "/asPathPrefix", schemaPath: "#/properties/asPathPrefix/maxItems", keyword: "maxItems" }], !1;
                      {
                        var valid4 = !0;
                        const len1 = data11.length;
                        for (let i1 = 0; i1 < len1; i1++) {
                          let data12 = data11[i1];
                          const _errs22 = errors;
                          if (!(typeof data12 == "number" && !(data12 % 1) && !isNaN(data12) && isFinite(data12)) && typeof data12 != "string" && data12 !== null)
                            return validate28.errors = [{ instancePath: instancePath + "/asPathPrefix/" + i1, schemaPath: "#/properties/asPathPrefix/items/type", keyword: "type" }], !1;
                          if (errors === _errs22 && typeof data12 == "string" && data12.length > 40)
                            return validate28.errors = [{ instancePath: instancePath + "/asPathPrefix/" + i1, schemaPath: "#/properties/asPathPrefix/items/maxLength", keyword: "maxLength" }], !1;
                          var valid4 = _errs22 === errors;
                          if (!valid4)
                            break;
                        }
                      }
                    }
                    var valid0 = _errs20 === errors;
                  } else
                    var valid0 = !0;
                  if (valid0) {
                    if (data.priority !== void 0) {
                      let data13 = data.priority;
                      const _errs24 = errors;
                      if (!(typeof data13 == "number" && !(data13 % 1) && !isNaN(data13) && isFinite(data13)) && data13 !== null)
                        return validate28.errors = [{ instancePath: instancePath + "/priority", schemaPath: "#/properties/priority/type", keyword: "type" }], !1;
                      if (errors === _errs24 && typeof data13 == "number" && isFinite(data13)) {
                        if (data13 > 2147483646 || isNaN(data13))
                          return validate28.errors = [{ instancePath: instancePath + "/priority", schemaPath: "#/properties/priority/maximum", keyword: "maximum" }], !1;
                        if (data13 < 1 || isNaN(data13))
                          return validate28.errors = [{ instancePath: instancePath + "/priority", schemaPath: "#/properties/priority/minimum", keyword: "minimum" }], !1;
                      }
                      var valid0 = _errs24 === errors;
                    } else
                      var valid0 = !0;
                    if (valid0) {
                      if (data.action !== void 0) {
                        let data14 = data.action;
                        const _errs26 = errors;
                        if (!(data14 === "Accept" || data14 === "Reject" || data14 === "" || data14 === null))
                          return validate28.errors = [{ instancePath: instancePath + "/action", schemaPath: "#/properties/action/enum", keyword: "enum" }], !1;
                        var valid0 = _errs26 === errors;
                      } else
                        var valid0 = !0;
                      if (valid0)
                        if (data.operations !== void 0) {
                          let data15 = data.operations;
                          const _errs27 = errors;
                          if (!Array.isArray(data15) && data15 !== null)
                            return validate28.errors = [{ instancePath: instancePath + "/operations", schemaPath: "#/properties/operations/type", keyword: "type" }], !1;
                          if (errors === _errs27 && Array.isArray(data15)) {
                            if (data15.length > 50)
                              return validate28.errors = [{ instancePath: instancePath + "/operations", schemaPath: "#/properties/operations/maxItems", keyword: "maxItems" }], !1;
                            {
                              var valid5 = !0;
                              const len2 = data15.length;
                              for (let i2 = 0; i2 < len2; i2++) {
                                let data16 = data15[i2];
                                const _errs29 = errors;
                                if (!(data16 && typeof data16 == "object" && !Array.isArray(data16)) && data16 !== null)
                                  return validate28.errors = [{ instancePath: instancePath + "/operations/" + i2, schemaPath: "#/properties/operations/items/type", keyword: "type" }], !1;
                                if (errors === _errs29 && data16 && typeof data16 == "object" && !Array.isArray(data16)) {
                                  if (data16.addCommunity !== void 0) {
                                    let data17 = data16.addCommunity;
                                    const _errs31 = errors;
                                    if (!(data17 && typeof data17 == "object" && !Array.isArray(data17)) && data17 !== null)
                                      return validate28.errors = [{ instancePath: instancePath + "/operations/" + i2 + "/addCommunity", schemaPath: "#/properties/operations/items/properties/addCommunity/type", keyword: "type" }], !1;
                                    if (errors === _errs31 && data17 && typeof data17 == "object" && !Array.isArray(data17) && data17.value !== void 0) {
                                      let data18 = data17.value;
                                      const _errs33 = errors;
                                      if (typeof data18 != "string" && data18 !== null)
                                        return validate28.errors = [{ instancePath: instancePath + "/operations/" + i2 + "/addCommunity/value", schemaPath: "#/properties/operations/items/properties/addCommunity/properties/value/type", keyword: "type" }], !1;
                                      if (errors === _errs33 && typeof data18 == "string" && data18.length > 100)
                                        return validate28.errors = [{ instancePath: instancePath + "/operations/" + i2 + "/addCommunity/value", schemaPath: "#/properties/operations/items/properties/addCommunity/properties/value/maxLength", keyword: "maxLength" }], !1;
                                    }
                                    var valid6 = _errs31 === errors;
                                  } else
                                    var valid6 = !0;
                                  if (valid6) {
                                    if (data16.prependASPath !== void 0) {
                                      let data19 = data16.prependASPath;
                                      const _errs35 = errors;
                                      if (!(data19 && typeof data19 == "object" && !Array.isArray(data19)) && data19 !== null)
                                        return validate28.errors = [{ instancePath: instancePath + "/operations/" + i2 + "/prependASPath", schemaPath: "#/properties/operations/items/properties/prependASPath/type", keyword: "type" }], !1;
                                      if (errors === _errs35 && data19 && typeof data19 == "object" && !Array.isArray(data19) && data19.prefix !== void 0) {
                                        let data20 = data19.prefix;
                                        const _errs37 = errors;
                                        if (!Array.isArray(data20) && data20 !== null)
                                          return validate28.errors = [{ instancePath: instancePath + "/operations/" + i2 + "/prependASPath/prefix", schemaPath: "#/properties/operations/items/properties/prependASPath/properties/prefix/type", keyword: "type" }], !1;
                                        if (errors === _errs37 && Array.isArray(data20)) {
                                          if (data20.length > 50)
                                            return validate28.errors = [{ instancePath: instancePath + "/operations/" + i2 + "/prependASPath/prefix", schemaPath: "#/properties/operations/items/properties/prependASPath/properties/prefix/maxItems", keyword: "maxItems" }], !1;
                                          if (data20.length < 1)
                                            return validate28.errors = [{ instancePath: instancePath + "/operations/" + i2 + "/prependASPath/prefix", schemaPath: "#/properties/operations/items/properties/prependASPath/properties/prefix/minItems", keyword: "minItems" }], !1;
                                          {
                                            var valid9 = !0;
                                            const len3 = data20.length;
                                            for (let i3 = 0; i3 < len3; i3++) {
                                              let data21 = data20[i3];
                                              const _errs39 = errors;
                                              if (!(typeof data21 == "number" && !(data21 % 1) && !isNaN(data21) && isFinite(data21)) && typeof data21 != "string" && data21 !== null)
                                                return validate28.errors = [{ instancePath: instancePath + "/operations/" + i2 + "/prependASPath/prefix/" + i3, schemaPath: "#/properties/operations/items/properties/prependASPath/properties/prefix/items/type", keyword: "type" }], !1;
                                              if (errors === _errs39 && typeof data21 == "string" && data21.length > 40)
                                                return validate28.errors = [{ instancePath: instancePath + "/operations/" + i2 + "/prependASPath/prefix/" + i3, schemaPath: "#/properties/operations/items/properties/prependASPath/properties/prefix/items/maxLength", keyword: "maxLength" }], !1;
                                              var valid9 = _errs39 === errors;
                                              if (!valid9)
                                                break;
                                            }
                                          }
                                        }
                                      }
                                      var valid6 = _errs35 === errors;
                                    } else
                                      var valid6 = !0;
                                    if (valid6)
                                      if (data16.setPriority !== void 0) {
                                        let data22 = data16.setPriority;
                                        const _errs41 = errors;
                                        if (!(data22 && typeof data22 == "object" && !Array.isArray(data22)) && data22 !== null)
                                          return validate28.errors = [{ instancePath: instancePath + "/operations/" + i2 + "/setPriority", schemaPath: "#/properties/operations/items/properties/setPriority/type", keyword: "type" }], !1;
                                        if (errors === _errs41 && data22 && typeof data22 == "object" && !Array.isArray(data22) && data22.value !== void 0) {
                                          let data23 = data22.value;
                                          const _errs43 = errors;
                                          if (!(typeof data23 == "number" && !(data23 % 1) && !isNaN(data23) && isFinite(data23)) && data23 !== null)
                                            return validate28.errors = [{ instancePath: instancePath + "/operations/" + i2 + "/setPriority/value", schemaPath: "#/properties/operations/items/properties/setPriority/properties/value/type", keyword: "type" }], !1;
                                          if (errors === _errs43 && typeof data23 == "number" && isFinite(data23)) {
                                            if (data23 > 2147483646 || isNaN(data23))
                                              return validate28.errors = [{ instancePath: instancePath + "/operations/" + i2 + "/setPriority/value", schemaPath: "#/properties/operations/items/properties/setPriority/properties/value/maximum", keyword: "maximum" }], !1;
                                            if (data23 < 1 || isNaN(data23))
                                              return validate28.errors = [{ instancePath: instancePath + "/operations/" + i2 + "/setPriority/value", schemaPath: "#/properties/operations/items/properties/setPriority/properties/value/minimum", keyword: "minimum" }], !1;
                                          }
                                        }
                                        var valid6 = _errs41 === errors;
                                      } else
                                        var valid6 = !0;
                                  }
                                }
                                var valid5 = _errs29 === errors;
                                if (!valid5)
                                  break;
                              }
                            }
                          }
                          var valid0 = _errs27 === errors;
                        } else
                          var valid0 = !0;
                    }
                  }
                }
              }
            }
          }
        }
      }
    }
  }
  return validate28.errors = vErrors, errors === 0;
}
function validate24(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (errors === 0)
    if (data && typeof data == "object" && !Array.isArray(data)) {
      if (data.kind !== void 0) {
        let data0 = data.kind;
        const _errs1 = errors;
        if (typeof data0 != "string" && data0 !== null)
          return validate24.errors = [{ instancePath: instancePath + "/kind", schemaPath: "#/properties/kind/type", keyword: "type" }], !1;
        if (errors === _errs1 && typeof data0 == "string" && data0.length > 100)
          return validate24.errors = [{ instancePath: instancePath + "/kind", schemaPath: "#/properties/kind/maxLength", keyword: "maxLength" }], !1;
        var valid0 = _errs1 === errors;
      } else
        var valid0 = !0;
      if (valid0) {
        if (data.metadata !== void 0) {
          let data1 = data.metadata;
          const _errs3 = errors;
          if (!(data1 && typeof data1 == "object" && !Array.isArray(data1)) && data1 !== null)
            return validate24.errors = [{ instancePath: instancePath + "/metadata", schemaPath: "#/properties/metadata/type", keyword: "type" }], !1;
          if (errors === _errs3 && data1 && typeof data1 == "object" && !Array.isArray(data1)) {
            if (data1.name !== void 0) {
              let data2 = data1.name;
              const _errs5 = errors;
              if (typeof data2 != "string" && data2 !== null)
                return validate24.errors = [{ instancePath: instancePath + "/metadata/name", schemaPath: "#/properties/metadata/properties/name/type", keyword: "type" }], !1;
              if (errors === _errs5 && typeof data2 == "string" && data2.length > 1e3)
                return validate24.errors = [{ instancePath: instancePath + "/metadata/name", schemaPath: "#/properties/metadata/properties/name/maxLength", keyword: "maxLength" }], !1;
              var valid1 = _errs5 === errors;
            } else
              var valid1 = !0;
            if (valid1) {
              if (data1.namespace !== void 0) {
                let data3 = data1.namespace;
                const _errs7 = errors;
                if (typeof data3 != "string" && data3 !== null)
                  return validate24.errors = [{ instancePath: instancePath + "/metadata/namespace", schemaPath: "#/properties/metadata/properties/namespace/type", keyword: "type" }], !1;
                if (errors === _errs7 && typeof data3 == "string" && data3.length > 1e3)
                  return validate24.errors = [{ instancePath: instancePath + "/metadata/namespace", schemaPath: "#/properties/metadata/properties/namespace/maxLength", keyword: "maxLength" }], !1;
                var valid1 = _errs7 === errors;
              } else
                var valid1 = !0;
              if (valid1)
                if (data1.labels !== void 0) {
                  let data4 = data1.labels;
                  const _errs9 = errors;
                  if (!(data4 && typeof data4 == "object" && !Array.isArray(data4)) && data4 !== null)
                    return validate24.errors = [{ instancePath: instancePath + "/metadata/labels", schemaPath: "#/properties/metadata/properties/labels/type", keyword: "type" }], !1;
                  if (errors === _errs9 && data4 && typeof data4 == "object" && !Array.isArray(data4))
                    for (const key0 in data4) {
                      const _errs12 = errors;
                      if (typeof data4[key0] != "string")
                        return validate24.errors = [{ instancePath: instancePath + "/metadata/labels/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "#/properties/metadata/properties/labels/additionalProperties/type", keyword: "type" }], !1;
                      var valid2 = _errs12 === errors;
                      if (!valid2)
                        break;
                    }
                  var valid1 = _errs9 === errors;
                } else
                  var valid1 = !0;
            }
          }
          var valid0 = _errs3 === errors;
        } else
          var valid0 = !0;
        if (valid0)
          if (data.spec !== void 0) {
            let data6 = data.spec;
            const _errs14 = errors;
            if (!(data6 && typeof data6 == "object" && !Array.isArray(data6)) && data6 !== null)
              return validate24.errors = [{ instancePath: instancePath + "/spec", schemaPath: "#/properties/spec/type", keyword: "type" }], !1;
            if (errors === _errs14 && data6 && typeof data6 == "object" && !Array.isArray(data6)) {
              if (data6.importV4 !== void 0) {
                let data7 = data6.importV4;
                const _errs16 = errors;
                if (!Array.isArray(data7) && data7 !== null)
                  return validate24.errors = [{ instancePath: instancePath + "/spec/importV4", schemaPath: "#/properties/spec/properties/importV4/type", keyword: "type" }], !1;
                if (errors === _errs16 && Array.isArray(data7)) {
                  var valid4 = !0;
                  const len0 = data7.length;
                  for (let i0 = 0; i0 < len0; i0++) {
                    const _errs18 = errors;
                    validate25(data7[i0], { instancePath: instancePath + "/spec/importV4/" + i0, parentData: data7, parentDataProperty: i0, rootData }) || (vErrors = vErrors === null ? validate25.errors : vErrors.concat(validate25.errors), errors = vErrors.length);
                    var valid4 = _errs18 === errors;
                    if (!valid4)
                      break;
                  }
                }
                var valid3 = _errs16 === errors;
              } else
                var valid3 = !0;
              if (valid3) {
                if (data6.exportV4 !== void 0) {
                  let data9 = data6.exportV4;
                  const _errs19 = errors;
                  if (!Array.isArray(data9) && data9 !== null)
                    return validate24.errors = [{ instancePath: instancePath + "/spec/exportV4", schemaPath: "#/properties/spec/properties/exportV4/type", keyword: "type" }], !1;
                  if (errors === _errs19 && Array.isArray(data9)) {
                    var valid5 = !0;
                    const len1 = data9.length;
                    for (let i1 = 0; i1 < len1; i1++) {
                      const _errs21 = errors;
                      validate25(data9[i1], { instancePath: instancePath + "/spec/exportV4/" + i1, parentData: data9, parentDataProperty: i1, rootData }) || (vErrors = vErrors === null ? validate25.errors : vErrors.concat(validate25.errors), errors = vErrors.length);
                      var valid5 = _errs21 === errors;
                      if (!valid5)
                        break;
                    }
                  }
                  var valid3 = _errs19 === errors;
                } else
                  var valid3 = !0;
                if (valid3) {
                  if (data6.importV6 !== void 0) {
                    let data11 = data6.importV6;
                    const _errs22 = errors;
                    if (!Array.isArray(data11) && data11 !== null)
                      return validate24.errors = [{ instancePath: instancePath + "/spec/importV6", schemaPath: "#/properties/spec/properties/importV6/type", keyword: "type" }], !1;
                    if (errors === _errs22 && Array.isArray(data11)) {
                      var valid6 = !0;
                      const len2 = data11.length;
                      for (let i2 = 0; i2 < len2; i2++) {
                        const _errs24 = errors;
                        validate28(data11[i2], { instancePath: instancePath + "/spec/importV6/" + i2, parentData: data11, parentDataProperty: i2, rootData }) || (vErrors = vErrors === null ? validate28.errors : vErrors.concat(validate28.errors), errors = vErrors.length);
                        var valid6 = _errs24 === errors;
                        if (!valid6)
                          break;
                      }
                    }
                    var valid3 = _errs22 === errors;
                  } else
                    var valid3 = !0;
                  if (valid3)
                    if (data6.exportV6 !== void 0) {
                      let data13 = data6.exportV6;
                      const _errs25 = errors;
                      if (!Array.isArray(data13) && data13 !== null)
                        return validate24.errors = [{ instancePath: instancePath + "/spec/exportV6", schemaPath: "#/properties/spec/properties/exportV6/type", keyword: "type" }], !1;
                      if (errors === _errs25 && Array.isArray(data13)) {
                        var valid7 = !0;
                        const len3 = data13.length;
                        for (let i3 = 0; i3 < len3; i3++) {
                          const _errs27 = errors;
                          validate28(data13[i3], { instancePath: instancePath + "/spec/exportV6/" + i3, parentData: data13, parentDataProperty: i3, rootData }) || (vErrors = vErrors === null ? validate28.errors : vErrors.concat(validate28.errors), errors = vErrors.length);
                          var valid7 = _errs27 === errors;
                          if (!valid7)
                            break;
                        }
                      }
                      var valid3 = _errs25 === errors;
                    } else
                      var valid3 = !0;
                }
              }
            }
            var valid0 = _errs14 === errors;
          } else
            var valid0 = !0;
      }
    } else
      return validate24.errors = [{ instancePath, schemaPath: "#/type", keyword: "type" }], !1;
  return validate24.errors = vErrors, errors === 0;
}
const validateIPPool = validate31;
function validate31(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (errors === 0)
    if (data && typeof data == "object" && !Array.isArray(data)) {
      if (data.kind !== void 0) {
        let data0 = data.kind;
        const _errs1 = errors;
        if (typeof data0 != "string" && data0 !== null)
          return validate31.errors = [{ instancePath: instancePath + "/kind", schemaPath: "#/properties/kind/type", keyword: "type" }], !1;
        if (errors === _errs1 && typeof data0 == "string" && data0.length > 100)
          return validate31.errors = [{ instancePath: instancePath + "/kind", schemaPath: "#/properties/kind/maxLength", keyword: "maxLength" }], !1;
        var valid0 = _errs1 === errors;
      } else
        var valid0 = !0;
      if (valid0) {
        if (data.metadata !== void 0) {
          let data1 = data.metadata;
          const _errs3 = errors;
          if (!(data1 && typeof data1 == "object" && !Array.isArray(data1)) && data1 !== null)
            return validate31.errors = [{ instancePath: instancePath + "/metadata", schemaPath: "#/properties/metadata/type", keyword: "type" }], !1;
          if (errors === _errs3 && data1 && typeof data1 == "object" && !Array.isArray(data1)) {
            if (data1.name !== void 0) {
              let data2 = data1.name;
              const _errs5 = errors;
              if (typeof data2 != "string" && data2 !== null)
                return validate31.errors = [{ instancePath: instancePath + "/metadata/name", schemaPath: "#/properties/metadata/properties/name/type", keyword: "type" }], !1;
              if (errors === _errs5 && typeof data2 == "string" && data2.length > 1e3)
                return validate31.errors = [{ instancePath: instancePath + "/metadata/name", schemaPath: "#/properties/metadata/properties/name/maxLength", keyword: "maxLength" }], !1;
              var valid1 = _errs5 === errors;
            } else
              var valid1 = !0;
            if (valid1) {
              if (data1.namespace !== void 0) {
                let data3 = data1.namespace;
                const _errs7 = errors;
                if (typeof data3 != "string" && data3 !== null)
                  return validate31.errors = [{ instancePath: instancePath + "/metadata/namespace", schemaPath: "#/properties/metadata/properties/namespace/type", keyword: "type" }], !1;
                if (errors === _errs7 && typeof data3 == "string" && data3.length > 1e3)
                  return validate31.errors = [{ instancePath: instancePath + "/metadata/namespace", schemaPath: "#/properties/metadata/properties/namespace/maxLength", keyword: "maxLength" }], !1;
                var valid1 = _errs7 === errors;
              } else
                var valid1 = !0;
              if (valid1)
                if (data1.labels !== void 0) {
                  let data4 = data1.labels;
                  const _errs9 = errors;
                  if (!(data4 && typeof data4 == "object" && !Array.isArray(data4)) && data4 !== null)
                    return validate31.errors = [{ instancePath: instancePath + "/metadata/labels", schemaPath: "#/properties/metadata/properties/labels/type", keyword: "type" }], !1;
                  if (errors === _errs9 && data4 && typeof data4 == "object" && !Array.isArray(data4))
                    for (const key0 in data4) {
                      const _errs12 = errors;
                      if (typeof data4[key0] != "string")
                        return validate31.errors = [{ instancePath: instancePath + "/metadata/labels/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "#/properties/metadata/properties/labels/additionalProperties/type", keyword: "type" }], !1;
                      var valid2 = _errs12 === errors;
                      if (!valid2)
                        break;
                    }
                  var valid1 = _errs9 === errors;
                } else
                  var valid1 = !0;
            }
          }
          var valid0 = _errs3 === errors;
        } else
          var valid0 = !0;
        if (valid0)
          if (data.spec !== void 0) {
            let data6 = data.spec;
            const _errs14 = errors;
            if (!(data6 && typeof data6 == "object" && !Array.isArray(data6)) && data6 !== null)
              return validate31.errors = [{ instancePath: instancePath + "/spec", schemaPath: "#/properties/spec/type", keyword: "type" }], !1;
            if (errors === _errs14 && data6 && typeof data6 == "object" && !Array.isArray(data6)) {
              if (data6.cidr !== void 0) {
                let data7 = data6.cidr;
                const _errs16 = errors;
                if (typeof data7 != "string" && data7 !== null)
                  return validate31.errors = [{ instancePath: instancePath + "/spec/cidr", schemaPath: "#/properties/spec/properties/cidr/type", keyword: "type" }], !1;
                if (errors === _errs16 && typeof data7 == "string" && data7.length > 100)
                  return validate31.errors = [{ instancePath: instancePath + "/spec/cidr", schemaPath: "#/properties/spec/properties/cidr/maxLength", keyword: "maxLength" }], !1;
                var valid3 = _errs16 === errors;
              } else
                var valid3 = !0;
              if (valid3) {
                if (data6.ipipMode !== void 0) {
                  let data8 = data6.ipipMode;
                  const _errs18 = errors;
                  if (!(data8 === "Never" || data8 === "Always" || data8 === "CrossSubnet" || data8 === "" || data8 === null))
                    return validate31.errors = [{ instancePath: instancePath + "/spec/ipipMode", schemaPath: "#/properties/spec/properties/ipipMode/enum", keyword: "enum" }], !1;
                  var valid3 = _errs18 === errors;
                } else
                  var valid3 = !0;
                if (valid3) {
                  if (data6.vxlanMode !== void 0) {
                    let data9 = data6.vxlanMode;
                    const _errs19 = errors;
                    if (!(data9 === "Never" || data9 === "Always" || data9 === "CrossSubnet" || data9 === "" || data9 === null))
                      return validate31.errors = [{ instancePath: instancePath + "/spec/vxlanMode", schemaPath: "#/properties/spec/properties/vxlanMode/enum", keyword: "enum" }], !1;
                    var valid3 = _errs19 === errors;
                  } else
                    var valid3 = !0;
                  if (valid3)
                    if (data6.disableBGPExport !== void 0) {
                      let data10 = data6.disableBGPExport;
                      const _errs20 = errors;
                      if (typeof data10 != "boolean" && data10 !== null)
                        return validate31.errors = [{ instancePath: instancePath + "/spec/disableBGPExport", schemaPath: "#/properties/spec/properties/disableBGPExport/type", keyword: "type" }], !1;
                      var valid3 = _errs20 === errors;
                    } else
                      var valid3 = !0;
                }
              }
            }
            var valid0 = _errs14 === errors;
          } else
            var valid0 = !0;
      }
    } else
      return validate31.errors = [{ instancePath, schemaPath: "#/type", keyword: "type" }], !1;
  return validate31.errors = vErrors, errors === 0;
}
const validateBlockAffinity = validate32;
function validate32(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (errors === 0)
    if (data && typeof data == "object" && !Array.isArray(data)) {
      if (data.state !== void 0) {
        let data0 = data.state;
        const _errs1 = errors;
        if (!(data0 === "confirmed" || data0 === "pending" || data0 === "pendingDeletion" || data0 === "" || data0 === null))
          return validate32.errors = [{ instancePath: instancePath + "/state", schemaPath: "#/properties/state/enum", keyword: "enum" }], !1;
        var valid0 = _errs1 === errors;
      } else
        var valid0 = !0;
      if (valid0)
        if (data.deleted !== void 0) {
          let data1 = data.deleted;
          const _errs2 = errors;
          if (typeof data1 != "boolean" && typeof data1 != "string" && data1 !== null)
            return validate32.errors = [{ instancePath: instancePath + "/deleted", schemaPath: "#/properties/deleted/type", keyword: "type" }], !1;
          var valid0 = _errs2 === errors;
        } else
          var valid0 = !0;
    } else
      return validate32.errors = [{ instancePath, schemaPath: "#/type", keyword: "type" }], !1;
  return validate32.errors = vErrors, errors === 0;
}
const validateService = validate33;
function validate33(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (errors === 0)
    if (data && typeof data == "object" && !Array.isArray(data)) {
      if (data.kind !== void 0) {
        let data0 = data.kind;
        const _errs1 = errors;
        if (typeof data0 != "string" && data0 !== null)
          return validate33.errors = [{ instancePath: instancePath + "/kind", schemaPath: "#/properties/kind/type", keyword: "type" }], !1;
        if (errors === _errs1 && typeof data0 == "string" && data0.length > 100)
          return validate33.errors = [{ instancePath: instancePath + "/kind", schemaPath: "#/properties/kind/maxLength", keyword: "maxLength" }], !1;
        var valid0 = _errs1 === errors;
      } else
        var valid0 = !0;
      if (valid0) {
        if (data.metadata !== void 0) {
          let data1 = data.metadata;
          const _errs3 = errors;
          if (!(data1 && typeof data1 == "object" && !Array.isArray(data1)) && data1 !== null)
            return validate33.errors = [{ instancePath: instancePath + "/metadata", schemaPath: "#/properties/metadata/type", keyword: "type" }], !1;
          if (errors === _errs3 && data1 && typeof data1 == "object" && !Array.isArray(data1)) {
            if (data1.name !== void 0) {
              let data2 = data1.name;
              const _errs5 = errors;
              if (typeof data2 != "string" && data2 !== null)
                return validate33.errors = [{ instancePath: instancePath + "/metadata/name", schemaPath: "#/properties/metadata/properties/name/type", keyword: "type" }], !1;
              if (errors === _errs5 && typeof data2 == "string" && data2.length > 1e3)
                return validate33.errors = [{ instancePath: instancePath + "/metadata/name", schemaPath: "#/properties/metadata/properties/name/maxLength", keyword: "maxLength" }], !1;
              var valid1 = _errs5 === errors;
            } else
              var valid1 = !0;
            if (valid1) {
              if (data1.namespace !== void 0) {
                let data3 = data1.namespace;
                const _errs7 = errors;
                if (typeof data3 != "string" && data3 !== null)
                  return validate33.errors = [{ instancePath: instancePath + "/metadata/namespace", schemaPath: "#/properties/metadata/properties/namespace/type", keyword: "type" }], !1;
                if (errors === _errs7 && typeof data3 == "string" && data3.length > 1e3)
                  return validate33.errors = [{ instancePath: instancePath + "/metadata/namespace", schemaPath: "#/properties/metadata/properties/namespace/maxLength", keyword: "maxLength" }], !1;
                var valid1 = _errs7 === errors;
              } else
                var valid1 = !0;
              if (valid1)
                if (data1.labels !== void 0) {
                  let data4 = data1.labels;
                  const _errs9 = errors;
                  if (!(data4 && typeof data4 == "object" && !Array.isArray(data4)) && data4 !== null)
                    return validate33.errors = [{ instancePath: instancePath + "/metadata/labels", schemaPath: "#/properties/metadata/properties/labels/type", keyword: "type" }], !1;
                  if (errors === _errs9 && data4 && typeof data4 == "object" && !Array.isArray(data4))
                    for (const key0 in data4) {
                      const _errs12 = errors;
                      if (typeof data4[key0] != "string")
                        return validate33.errors = [{ instancePath: instancePath + "/metadata/labels/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "#/properties/metadata/properties/labels/additionalProperties/type", keyword: "type" }], !1;
                      var valid2 = _errs12 === errors;
                      if (!valid2)
                        break;
                    }
                  var valid1 = _errs9 === errors;
                } else
                  var valid1 = !0;
            }
          }
          var valid0 = _errs3 === errors;
        } else
          var valid0 = !0;
        if (valid0) {
          if (data.spec !== void 0) {
            let data6 = data.spec;
            const _errs14 = errors;
            if (!(data6 && typeof data6 == "object" && !Array.isArray(data6)) && data6 !== null)
              return validate33.errors = [{ instancePath: instancePath + "/spec", schemaPath: "#/properties/spec/type", keyword: "type" }], !1;
            if (errors === _errs14 && data6 && typeof data6 == "object" && !Array.isArray(data6)) {
              if (data6.type !== void 0) {
                let data7 = data6.type;
                const _errs16 = errors;
                if (typeof data7 != "string" && data7 !== null)
                  return validate33.errors = [{ instancePath: instancePath + "/spec/type", schemaPath: "#/properties/spec/properties/type/type", keyword: "type" }], !1;
                if (errors === _errs16 && typeof data7 == "string" && data7.length > 100)
                  return validate33.errors = [{ instancePath: instancePath + "/spec/type", schemaPath: "#/properties/spec/properties/type/maxLength", keyword: "maxLength" }], !1;
                var valid3 = _errs16 === errors;
              } else
                var valid3 = !0;
              if (valid3) {
                if (data6.clusterIP !== void 0) {
                  let data8 = data6.clusterIP;
                  const _errs18 = errors;
                  if (typeof data8 != "string" && data8 !== null)
                    return validate33.errors = [{ instancePath: instancePath + "/spec/clusterIP", schemaPath: "#/properties/spec/properties/clusterIP/type", keyword: "type" }], !1;
                  if (errors === _errs18 && typeof data8 == "string" && data8.length > 100)
                    return validate33.errors = [{ instancePath: instancePath + "/spec/clusterIP", schemaPath: "#/properties/spec/properties/clusterIP/maxLength", keyword: "maxLength" }], !1;
                  var valid3 = _errs18 === errors;
                } else
                  var valid3 = !0;
                if (valid3) {
                  if (data6.clusterIPs !== void 0) {
                    let data9 = data6.clusterIPs;
                    const _errs20 = errors;
                    if (!Array.isArray(data9) && data9 !== null)
                      return validate33.errors = [{ instancePath: instancePath + "/spec/clusterIPs", schemaPath: "#/properties/spec/properties/clusterIPs/type", keyword: "type" }], !1;
                    if (errors === _errs20 && Array.isArray(data9)) {
                      var valid4 = !0;
                      const len0 = data9.length;
                      for (let i0 = 0; i0 < len0; i0++) {
                        let data10 = data9[i0];
                        const _errs22 = errors;
                        if (typeof data10 != "string" && data10 !== null)
                          return validate33.errors = [{ instancePath: instancePath + "/spec/clusterIPs/" + i0, schemaPath: "#/properties/spec/properties/clusterIPs/items/type", keyword: "type" }], !1;
                        if (errors === _errs22 && typeof data10 == "string" && data10.length > 100)
                          return validate33.errors = [{ instancePath: instancePath + "/spec/clusterIPs/" + i0, schemaPath: "#/properties/spec/properties/clusterIPs/items/maxLength", keyword: "maxLength" }], !1;
                        var valid4 = _errs22 === errors;
                        if (!valid4)
                          break;
                      }
                    }
                    var valid3 = _errs20 === errors;
                  } else
                    var valid3 = !0;
                  if (valid3) {
                    if (data6.externalIPs !== void 0) {
                      let data11 = data6.externalIPs;
                      const _errs24 = errors;
                      if (!Array.isArray(data11) && data11 !== null)
                        return validate33.errors = [{ instancePath: instancePath + "/spec/externalIPs", schemaPath: "#/properties/spec/properties/externalIPs/type", keyword: "type" }], !1;
                      if (errors === _errs24 && Array.isArray(data11)) {
                        var valid5 = !0;
                        const len1 = data11.length;
                        for (let i1 = 0; i1 < len1; i1++) {
                          let data12 = data11[i1];
                          const _errs26 = errors;
                          if (typeof data12 != "string" && data12 !== null)
                            return validate33.errors = [{ instancePath: instancePath + "/spec/externalIPs/" + i1, schemaPath: "#/properties/spec/properties/externalIPs/items/type", keyword: "type" }], !1;
                          if (errors === _errs26 && typeof data12 == "string" && data12.length > 100)
                            return validate33.errors = [{ instancePath: instancePath + "/spec/externalIPs/" + i1, schemaPath: "#/properties/spec/properties/externalIPs/items/maxLength", keyword: "maxLength" }], !1;
                          var valid5 = _errs26 === errors;
                          if (!valid5)
                            break;
                        }
                      }
                      var valid3 = _errs24 === errors;
                    } else
                      var valid3 = !0;
                    if (valid3) {
                      if (data6.loadBalancerIP !== void 0) {
                        let data13 = data6.loadBalancerIP;
                        const _errs28 = errors;
                        if (typeof data13 != "string" && data13 !== null)
                          return validate33.errors = [{ instancePath: instancePath + "/spec/loadBalancerIP", schemaPath: "#/properties/spec/properties/loadBalancerIP/type", keyword: "type" }], !1;
                        if (errors === _errs28 && typeof data13 == "string" && data13.length > 100)
                          return validate33.errors = [{ instancePath: instancePath + "/spec/loadBalancerIP", schemaPath: "#/properties/spec/properties/loadBalancerIP/maxLength", keyword: "maxLength" }], !1;
                        var valid3 = _errs28 === errors;
                      } else
                        var valid3 = !0;
                      if (valid3) {
                        if (data6.externalTrafficPolicy !== void 0) {
                          let data14 = data6.externalTrafficPolicy;
                          const _errs30 = errors;
                          if (!(data14 === "Cluster" || data14 === "Local" || data14 === "" || data14 === null))
                            return validate33.errors = [{ instancePath: instancePath + "/spec/externalTrafficPolicy", schemaPath: "#/properties/spec/properties/externalTrafficPolicy/enum", keyword: "enum" }], !1;
                          var valid3 = _errs30 === errors;
                        } else
                          var valid3 = !0;
                        if (valid3)
                          if (data6.ipFamilies !== void 0) {
                            let data15 = data6.ipFamilies;
                            const _errs31 = errors;
                            if (!Array.isArray(data15) && data15 !== null)
                              return validate33.errors = [{ instancePath: instancePath + "/spec/ipFamilies", schemaPath: "#/properties/spec/properties/ipFamilies/type", keyword: "type" }], !1;
                            if (errors === _errs31 && Array.isArray(data15)) {
                              var valid6 = !0;
                              const len2 = data15.length;
                              for (let i2 = 0; i2 < len2; i2++) {
                                let data16 = data15[i2];
                                const _errs33 = errors;
                                if (!(data16 === "IPv4" || data16 === "IPv6" || data16 === "" || data16 === null))
                                  return validate33.errors = [{ instancePath: instancePath + "/spec/ipFamilies/" + i2, schemaPath: "#/properties/spec/properties/ipFamilies/items/enum", keyword: "enum" }], !1;
                                var valid6 = _errs33 === errors;
                                if (!valid6)
                                  break;
                              }
                            }
                            var valid3 = _errs31 === errors;
                          } else
                            var valid3 = !0;
                      }
                    }
                  }
                }
              }
            }
            var valid0 = _errs14 === errors;
          } else
            var valid0 = !0;
          if (valid0)
            if (data.status !== void 0) {
              let data17 = data.status;
              const _errs34 = errors;
              if (!(data17 && typeof data17 == "object" && !Array.isArray(data17)) && data17 !== null)
                return validate33.errors = [{ instancePath: instancePath + "/status", schemaPath: "#/properties/status/type", keyword: "type" }], !1;
              if (errors === _errs34 && data17 && typeof data17 == "object" && !Array.isArray(data17) && data17.loadBalancer !== void 0) {
                let data18 = data17.loadBalancer;
                const _errs36 = errors;
                if (!(data18 && typeof data18 == "object" && !Array.isArray(data18)) && data18 !== null)
                  return validate33.errors = [{ instancePath: instancePath + "/status/loadBalancer", schemaPath: "#/properties/status/properties/loadBalancer/type", keyword: "type" }], !1;
                if (errors === _errs36 && data18 && typeof data18 == "object" && !Array.isArray(data18) && data18.ingress !== void 0) {
                  let data19 = data18.ingress;
                  const _errs38 = errors;
                  if (!Array.isArray(data19) && data19 !== null)
                    return validate33.errors = [{ instancePath: instancePath + "/status/loadBalancer/ingress", schemaPath: "#/properties/status/properties/loadBalancer/properties/ingress/type", keyword: "type" }], !1;
                  if (errors === _errs38 && Array.isArray(data19)) {
                    var valid9 = !0;
                    const len3 = data19.length;
                    for (let i3 = 0; i3 < len3; i3++) {
                      let data20 = data19[i3];
                      const _errs40 = errors;
                      if (!(data20 && typeof data20 == "object" && !Array.isArray(data20)) && data20 !== null)
                        return validate33.errors = [{ instancePath: instancePath + "/status/loadBalancer/ingress/" + i3, schemaPath: "#/properties/status/properties/loadBalancer/properties/ingress/items/type", keyword: "type" }], !1;
                      if (errors === _errs40 && data20 && typeof data20 == "object" && !Array.isArray(data20) && data20.ip !== void 0) {
                        let data21 = data20.ip;
                        const _errs42 = errors;
                        if (typeof data21 != "string" && data21 !== null)
                          return validate33.errors = [{ instancePath: instancePath + "/status/loadBalancer/ingress/" + i3 + "/ip", schemaPath: "#/properties/status/properties/loadBalancer/properties/ingress/items/properties/ip/type", keyword: "type" }], !1;
                        if (errors === _errs42 && typeof data21 == "string" && data21.length > 100)
                          return validate33.errors = [{ instancePath: instancePath + "/status/loadBalancer/ingress/" + i3 + "/ip", schemaPath: "#/properties/status/properties/loadBalancer/properties/ingress/items/properties/ip/maxLength", keyword: "maxLength" }], !1;
                      }
                      var valid9 = _errs40 === errors;
                      if (!valid9)
                        break;
                    }
                  }
                }
              }
              var valid0 = _errs34 === errors;
            } else
              var valid0 = !0;
        }
      }
    } else
      return validate33.errors = [{ instancePath, schemaPath: "#/type", keyword: "type" }], !1;
  return validate33.errors = vErrors, errors === 0;
}
const validateEndpointSlice = validate34;
function validate34(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (errors === 0)
    if (data && typeof data == "object" && !Array.isArray(data)) {
      if (data.kind !== void 0) {
        let data0 = data.kind;
        const _errs1 = errors;
        if (typeof data0 != "string" && data0 !== null)
          return validate34.errors = [{ instancePath: instancePath + "/kind", schemaPath: "#/properties/kind/type", keyword: "type" }], !1;
        if (errors === _errs1 && typeof data0 == "string" && data0.length > 100)
          return validate34.errors = [{ instancePath: instancePath + "/kind", schemaPath: "#/properties/kind/maxLength", keyword: "maxLength" }], !1;
        var valid0 = _errs1 === errors;
      } else
        var valid0 = !0;
      if (valid0) {
        if (data.metadata !== void 0) {
          let data1 = data.metadata;
          const _errs3 = errors;
          if (!(data1 && typeof data1 == "object" && !Array.isArray(data1)) && data1 !== null)
            return validate34.errors = [{ instancePath: instancePath + "/metadata", schemaPath: "#/properties/metadata/type", keyword: "type" }], !1;
          if (errors === _errs3 && data1 && typeof data1 == "object" && !Array.isArray(data1)) {
            if (data1.name !== void 0) {
              let data2 = data1.name;
              const _errs5 = errors;
              if (typeof data2 != "string" && data2 !== null)
                return validate34.errors = [{ instancePath: instancePath + "/metadata/name", schemaPath: "#/properties/metadata/properties/name/type", keyword: "type" }], !1;
              if (errors === _errs5 && typeof data2 == "string" && data2.length > 1e3)
                return validate34.errors = [{ instancePath: instancePath + "/metadata/name", schemaPath: "#/properties/metadata/properties/name/maxLength", keyword: "maxLength" }], !1;
              var valid1 = _errs5 === errors;
            } else
              var valid1 = !0;
            if (valid1) {
              if (data1.namespace !== void 0) {
                let data3 = data1.namespace;
                const _errs7 = errors;
                if (typeof data3 != "string" && data3 !== null)
                  return validate34.errors = [{ instancePath: instancePath + "/metadata/namespace", schemaPath: "#/properties/metadata/properties/namespace/type", keyword: "type" }], !1;
                if (errors === _errs7 && typeof data3 == "string" && data3.length > 1e3)
                  return validate34.errors = [{ instancePath: instancePath + "/metadata/namespace", schemaPath: "#/properties/metadata/properties/namespace/maxLength", keyword: "maxLength" }], !1;
                var valid1 = _errs7 === errors;
              } else
                var valid1 = !0;
              if (valid1)
                if (data1.labels !== void 0) {
                  let data4 = data1.labels;
                  const _errs9 = errors;
                  if (!(data4 && typeof data4 == "object" && !Array.isArray(data4)) && data4 !== null)
                    return validate34.errors = [{ instancePath: instancePath + "/metadata/labels", schemaPath: "#/properties/metadata/properties/labels/type", keyword: "type" }], !1;
                  if (errors === _errs9 && data4 && typeof data4 == "object" && !Array.isArray(data4))
                    for (const key0 in data4) {
                      const _errs12 = errors;
                      if (typeof data4[key0] != "string")
                        return validate34.errors = [{ instancePath: instancePath + "/metadata/labels/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "#/properties/metadata/properties/labels/additionalProperties/type", keyword: "type" }], !1;
                      var valid2 = _errs12 === errors;
                      if (!valid2)
                        break;
                    }
                  var valid1 = _errs9 === errors;
                } else
                  var valid1 = !0;
            }
          }
          var valid0 = _errs3 === errors;
        } else
          var valid0 = !0;
        if (valid0) {
          if (data.addressType !== void 0) {
            let data6 = data.addressType;
            const _errs14 = errors;
            if (typeof data6 != "string" && data6 !== null)
              return validate34.errors = [{ instancePath: instancePath + "/addressType", schemaPath: "#/properties/addressType/type", keyword: "type" }], !1;
            if (errors === _errs14 && typeof data6 == "string" && data6.length > 100)
              return validate34.errors = [{ instancePath: instancePath + "/addressType", schemaPath: "#/properties/addressType/maxLength", keyword: "maxLength" }], !1;
            var valid0 = _errs14 === errors;
          } else
            var valid0 = !0;
          if (valid0)
            if (data.endpoints !== void 0) {
              let data7 = data.endpoints;
              const _errs16 = errors;
              if (!Array.isArray(data7) && data7 !== null)
                return validate34.errors = [{ instancePath: instancePath + "/endpoints", schemaPath: "#/properties/endpoints/type", keyword: "type" }], !1;
              if (errors === _errs16 && Array.isArray(data7)) {
                var valid3 = !0;
                const len0 = data7.length;
                for (let i0 = 0; i0 < len0; i0++) {
                  let data8 = data7[i0];
                  const _errs18 = errors;
                  if (!(data8 && typeof data8 == "object" && !Array.isArray(data8)) && data8 !== null)
                    return validate34.errors = [{ instancePath: instancePath + "/endpoints/" + i0, schemaPath: "#/properties/endpoints/items/type", keyword: "type" }], !1;
                  if (errors === _errs18 && data8 && typeof data8 == "object" && !Array.isArray(data8)) {
                    if (data8.nodeName !== void 0) {
                      let data9 = data8.nodeName;
                      const _errs20 = errors;
                      if (typeof data9 != "string" && data9 !== null)
                        return validate34.errors = [{ instancePath: instancePath + "/endpoints/" + i0 + "/nodeName", schemaPath: "#/properties/endpoints/items/properties/nodeName/type", keyword: "type" }], !1;
                      if (errors === _errs20 && typeof data9 == "string" && data9.length > 253)
                        return validate34.errors = [{ instancePath: instancePath + "/endpoints/" + i0 + "/nodeName", schemaPath: "#/properties/endpoints/items/properties/nodeName/maxLength", keyword: "maxLength" }], !1;
                      var valid4 = _errs20 === errors;
                    } else
                      var valid4 = !0;
                    if (valid4)
                      if (data8.conditions !== void 0) {
                        let data10 = data8.conditions;
                        const _errs22 = errors;
                        if (!(data10 && typeof data10 == "object" && !Array.isArray(data10)) && data10 !== null)
                          return validate34.errors = [{ instancePath: instancePath + "/endpoints/" + i0 + "/conditions", schemaPath: "#/properties/endpoints/items/properties/conditions/type", keyword: "type" }], !1;
                        if (errors === _errs22 && data10 && typeof data10 == "object" && !Array.isArray(data10) && data10.ready !== void 0) {
                          let data11 = data10.ready;
                          if (typeof data11 != "boolean" && data11 !== null)
                            return validate34.errors = [{ instancePath: instancePath + "/endpoints/" + i0 + "/conditions/ready", schemaPath: "#/properties/endpoints/items/properties/conditions/properties/ready/type", keyword: "type" }], !1;
                        }
                        var valid4 = _errs22 === errors;
                      } else
                        var valid4 = !0;
                  }
                  var valid3 = _errs18 === errors;
                  if (!valid3)
                    break;
                }
              }
              var valid0 = _errs16 === errors;
            } else
              var valid0 = !0;
        }
      }
    } else
      return validate34.errors = [{ instancePath, schemaPath: "#/type", keyword: "type" }], !1;
  return validate34.errors = vErrors, errors === 0;
}
const validateSecret = validate35;
function validate35(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (errors === 0)
    if (data && typeof data == "object" && !Array.isArray(data)) {
      if (data.kind !== void 0) {
        let data0 = data.kind;
        const _errs1 = errors;
        if (typeof data0 != "string" && data0 !== null)
          return validate35.errors = [{ instancePath: instancePath + "/kind", schemaPath: "#/properties/kind/type", keyword: "type" }], !1;
        if (errors === _errs1 && typeof data0 == "string" && data0.length > 100)
          return validate35.errors = [{ instancePath: instancePath + "/kind", schemaPath: "#/properties/kind/maxLength", keyword: "maxLength" }], !1;
        var valid0 = _errs1 === errors;
      } else
        var valid0 = !0;
      if (valid0) {
        if (data.metadata !== void 0) {
          let data1 = data.metadata;
          const _errs3 = errors;
          if (!(data1 && typeof data1 == "object" && !Array.isArray(data1)) && data1 !== null)
            return validate35.errors = [{ instancePath: instancePath + "/metadata", schemaPath: "#/properties/metadata/type", keyword: "type" }], !1;
          if (errors === _errs3 && data1 && typeof data1 == "object" && !Array.isArray(data1)) {
            if (data1.name !== void 0) {
              let data2 = data1.name;
              const _errs5 = errors;
              if (typeof data2 != "string" && data2 !== null)
                return validate35.errors = [{ instancePath: instancePath + "/metadata/name", schemaPath: "#/properties/metadata/properties/name/type", keyword: "type" }], !1;
              if (errors === _errs5 && typeof data2 == "string" && data2.length > 1e3)
                return validate35.errors = [{ instancePath: instancePath + "/metadata/name", schemaPath: "#/properties/metadata/properties/name/maxLength", keyword: "maxLength" }], !1;
              var valid1 = _errs5 === errors;
            } else
              var valid1 = !0;
            if (valid1) {
              if (data1.namespace !== void 0) {
                let data3 = data1.namespace;
                const _errs7 = errors;
                if (typeof data3 != "string" && data3 !== null)
                  return validate35.errors = [{ instancePath: instancePath + "/metadata/namespace", schemaPath: "#/properties/metadata/properties/namespace/type", keyword: "type" }], !1;
                if (errors === _errs7 && typeof data3 == "string" && data3.length > 1e3)
                  return validate35.errors = [{ instancePath: instancePath + "/metadata/namespace", schemaPath: "#/properties/metadata/properties/namespace/maxLength", keyword: "maxLength" }], !1;
                var valid1 = _errs7 === errors;
              } else
                var valid1 = !0;
              if (valid1)
                if (data1.labels !== void 0) {
                  let data4 = data1.labels;
                  const _errs9 = errors;
                  if (!(data4 && typeof data4 == "object" && !Array.isArray(data4)) && data4 !== null)
                    return validate35.errors = [{ instancePath: instancePath + "/metadata/labels", schemaPath: "#/properties/metadata/properties/labels/type", keyword: "type" }], !1;
                  if (errors === _errs9 && data4 && typeof data4 == "object" && !Array.isArray(data4))
                    for (const key0 in data4) {
                      const _errs12 = errors;
                      if (typeof data4[key0] != "string")
                        return validate35.errors = [{ instancePath: instancePath + "/metadata/labels/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "#/properties/metadata/properties/labels/additionalProperties/type", keyword: "type" }], !1;
                      var valid2 = _errs12 === errors;
                      if (!valid2)
                        break;
                    }
                  var valid1 = _errs9 === errors;
                } else
                  var valid1 = !0;
            }
          }
          var valid0 = _errs3 === errors;
        } else
          var valid0 = !0;
        if (valid0) {
          if (data.data !== void 0) {
            let data6 = data.data;
            const _errs14 = errors;
            if (!(data6 && typeof data6 == "object" && !Array.isArray(data6)) && data6 !== null)
              return validate35.errors = [{ instancePath: instancePath + "/data", schemaPath: "#/properties/data/type", keyword: "type" }], !1;
            if (errors === _errs14 && data6 && typeof data6 == "object" && !Array.isArray(data6))
              for (const key1 in data6) {
                const _errs17 = errors;
                if (typeof data6[key1] != "string")
                  return validate35.errors = [{ instancePath: instancePath + "/data/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "#/properties/data/additionalProperties/type", keyword: "type" }], !1;
                var valid3 = _errs17 === errors;
                if (!valid3)
                  break;
              }
            var valid0 = _errs14 === errors;
          } else
            var valid0 = !0;
          if (valid0)
            if (data.stringData !== void 0) {
              let data8 = data.stringData;
              const _errs19 = errors;
              if (!(data8 && typeof data8 == "object" && !Array.isArray(data8)) && data8 !== null)
                return validate35.errors = [{ instancePath: instancePath + "/stringData", schemaPath: "#/properties/stringData/type", keyword: "type" }], !1;
              if (errors === _errs19 && data8 && typeof data8 == "object" && !Array.isArray(data8))
                for (const key2 in data8) {
                  const _errs22 = errors;
                  if (typeof data8[key2] != "string")
                    return validate35.errors = [{ instancePath: instancePath + "/stringData/" + key2.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "#/properties/stringData/additionalProperties/type", keyword: "type" }], !1;
                  var valid4 = _errs22 === errors;
                  if (!valid4)
                    break;
                }
              var valid0 = _errs19 === errors;
            } else
              var valid0 = !0;
        }
      }
    } else
      return validate35.errors = [{ instancePath, schemaPath: "#/type", keyword: "type" }], !1;
  return validate35.errors = vErrors, errors === 0;
}
const validateEndpointStatus = validate36;
function validate36(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (errors === 0)
    if (data && typeof data == "object" && !Array.isArray(data)) {
      if (data.bgpPeerName !== void 0) {
        let data0 = data.bgpPeerName;
        const _errs1 = errors;
        if (typeof data0 != "string" && data0 !== null)
          return validate36.errors = [{ instancePath: instancePath + "/bgpPeerName", schemaPath: "#/properties/bgpPeerName/type", keyword: "type" }], !1;
        if (errors === _errs1 && typeof data0 == "string" && data0.length > 253)
          return validate36.errors = [{ instancePath: instancePath + "/bgpPeerName", schemaPath: "#/properties/bgpPeerName/maxLength", keyword: "maxLength" }], !1;
        var valid0 = _errs1 === errors;
      } else
        var valid0 = !0;
      if (valid0) {
        if (data.ipv4Nets !== void 0) {
          let data1 = data.ipv4Nets;
          const _errs3 = errors;
          if (!Array.isArray(data1) && data1 !== null)
            return validate36.errors = [{ instancePath: instancePath + "/ipv4Nets", schemaPath: "#/properties/ipv4Nets/type", keyword: "type" }], !1;
          if (errors === _errs3 && Array.isArray(data1)) {
            var valid1 = !0;
            const len0 = data1.length;
            for (let i0 = 0; i0 < len0; i0++) {
              let data2 = data1[i0];
              const _errs5 = errors;
              if (typeof data2 != "string" && data2 !== null)
                return validate36.errors = [{ instancePath: instancePath + "/ipv4Nets/" + i0, schemaPath: "#/properties/ipv4Nets/items/type", keyword: "type" }], !1;
              if (errors === _errs5 && typeof data2 == "string" && data2.length > 100)
                return validate36.errors = [{ instancePath: instancePath + "/ipv4Nets/" + i0, schemaPath: "#/properties/ipv4Nets/items/maxLength", keyword: "maxLength" }], !1;
              var valid1 = _errs5 === errors;
              if (!valid1)
                break;
            }
          }
          var valid0 = _errs3 === errors;
        } else
          var valid0 = !0;
        if (valid0)
          if (data.ipv6Nets !== void 0) {
            let data3 = data.ipv6Nets;
            const _errs7 = errors;
            if (!Array.isArray(data3) && data3 !== null)
              return validate36.errors = [{ instancePath: instancePath + "/ipv6Nets", schemaPath: "#/properties/ipv6Nets/type", keyword: "type" }], !1;
            if (errors === _errs7 && Array.isArray(data3)) {
              var valid2 = !0;
              const len1 = data3.length;
              for (let i1 = 0; i1 < len1; i1++) {
                let data4 = data3[i1];
                const _errs9 = errors;
                if (typeof data4 != "string" && data4 !== null)
                  return validate36.errors = [{ instancePath: instancePath + "/ipv6Nets/" + i1, schemaPath: "#/properties/ipv6Nets/items/type", keyword: "type" }], !1;
                if (errors === _errs9 && typeof data4 == "string" && data4.length > 100)
                  return validate36.errors = [{ instancePath: instancePath + "/ipv6Nets/" + i1, schemaPath: "#/properties/ipv6Nets/items/maxLength", keyword: "maxLength" }], !1;
                var valid2 = _errs9 === errors;
                if (!valid2)
                  break;
              }
            }
            var valid0 = _errs7 === errors;
          } else
            var valid0 = !0;
      }
    } else
      return validate36.errors = [{ instancePath, schemaPath: "#/type", keyword: "type" }], !1;
  return validate36.errors = vErrors, errors === 0;
}
export {
  validateBGPConfiguration,
  validateBGPFilter,
  validateBGPPeer,
  validateBlockAffinity,
  validateEndpointSlice,
  validateEndpointStatus,
  validateIPPool,
  validateNode,
  validateSecret,
  validateService
};
