// Roads and borders as one draw of GL lines, two vertices each; a wide line is the same drawn a pixel aside.
import {Layer, project32, type LayerProps} from '@deck.gl/core';
import {Model} from '@luma.gl/engine';

export interface LinesProps extends LayerProps {
  data: {length: number; attributes: Record<string, {value: Float32Array | Uint8Array; size: number; type?: string; normalized?: boolean}>};
  isWide: boolean;
}

const vs = `#version 300 es
in vec2 ends;
in vec4 colours;
out vec4 colour;
void main(void) {
  vec3 place = vec3(ends, 0.0);
  geometry.worldPosition = place;
  gl_Position = project_position_to_clipspace(place, vec3(0.0), vec3(0.0), geometry.position);
  vec2 aside = vec2(gl_InstanceID & 1, gl_InstanceID >> 1);
  gl_Position.xy += aside * 2.0 / project.viewportSize * gl_Position.w;
  colour = vec4(colours.rgb, colours.a * layer.opacity);
  DECKGL_FILTER_COLOR(colour, geometry);
}`;

const fs = `#version 300 es
precision highp float;
in vec4 colour;
out vec4 fragColor;
void main(void) {
  fragColor = colour;
}`;

export class Lines extends Layer<LinesProps> {
  static layerName = 'Lines';
  static defaultProps = {
    getEnd: {type: 'accessor', value: [0, 0]},
    getColour: {type: 'accessor', value: [0, 0, 0, 255]},
    isWide: false,
  };
  declare state: {model: Model};

  getShaders(): unknown {
    return super.getShaders({vs, fs, modules: [project32]});
  }

  initializeState(): void {
    const attributes = this.getAttributeManager()!;
    attributes.remove(['instancePickingColors']);
    attributes.add({
      ends: {size: 2, accessor: 'getEnd'},
      colours: {size: 4, type: 'unorm8', accessor: 'getColour'},
    });
    this.setState({
      model: new Model(this.context.device, {
        ...(this.getShaders() as object),
        id: this.props.id,
        bufferLayout: attributes.getBufferLayouts(),
        topology: 'line-list',
        isInstanced: false,
      } as ConstructorParameters<typeof Model>[1]),
    });
  }

  draw(): void {
    const {model} = this.state;
    model.setVertexCount(this.props.data.length);
    model.setInstanceCount(this.props.isWide ? 4 : 1);
    model.draw(this.context.renderPass);
  }
}

/** Rings and lines as pairs of ends, with a colour at each end. */
export class LineBuffer {
  private ends: number[] = [];
  private colours: number[] = [];

  add(points: readonly (readonly number[])[], colour: readonly number[]): void {
    for (let i = 1; i < points.length; i++) {
      this.ends.push(points[i - 1][0], points[i - 1][1], points[i][0], points[i][1]);
      this.colours.push(...colour, ...colour);
    }
  }

  get data(): LinesProps['data'] {
    return {
      length: this.ends.length / 2,
      attributes: {
        getEnd: {value: new Float32Array(this.ends), size: 2},
        getColour: {value: new Uint8Array(this.colours), size: 4, type: 'unorm8', normalized: true},
      },
    };
  }
}
